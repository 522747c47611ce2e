"""Results to tables, plots and pages."""
