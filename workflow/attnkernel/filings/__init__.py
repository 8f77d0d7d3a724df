"""Annual reports: where their text comes from, and how it becomes prose."""
