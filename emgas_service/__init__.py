"""Where an installed EMGAS begins.  In a wheel all layers lie in this package as well (hatch_build.py)."""
