"""What tests of several layers share: builders, fakes of seams, clocks, logs, and what drives them."""
