"""Which operations run in another layout, so that transposes cancel."""
