"""The long lag: read a bit, read L noise symbols, report the bit; by lookup and by state."""
