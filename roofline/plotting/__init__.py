"""How it is shown: tables, Markdown and the figure. Reads archived runs; measures nothing."""
