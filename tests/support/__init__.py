"""What tests of several layers share: builders, fakes of seams, clocks, logs that a fold accepts, and what drives them."""
