"""What mixers that look at a source say where there is none."""

NO_SOURCE = ("a part of model.pattern looks at a source, and there is none. Take x out of model.pattern, or choose a "
             "task that has one, and model.source.")
