"""What the results screen shows, as plain values: grids of figures and plots; nothing here draws."""
