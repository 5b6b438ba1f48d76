"""The pump: phases in order, one place that suspends, one unit of work at a time."""
