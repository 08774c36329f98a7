"""What needs an optional dependency, or joins semgraph to other programs: a file each."""
