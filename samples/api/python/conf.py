project = "Lamp"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "alabaster"
autodoc_member_order = "bysource"
