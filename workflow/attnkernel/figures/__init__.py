"""Figures: one module a chapter, one shared style. Functions take columns of tables and return a Figure."""
