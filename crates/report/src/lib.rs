//! Renders summaries: the terminal and the live view.
