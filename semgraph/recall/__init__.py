"""Recall: the facts that matter to a question, from several channels fused by rank; a conflict never comes in half."""
