"""Recall: the facts that matter to a question, from several channels made one; a conflict never comes in half."""
