"""What can be measured inside a stack: norms of gradients, and how alike places look."""
