"""Shipped contracts and strategies for plug-ins; no other room imports this one."""
