"""The few loops that are compiled, each beside its plain NumPy twin; `dispatch` chooses."""
