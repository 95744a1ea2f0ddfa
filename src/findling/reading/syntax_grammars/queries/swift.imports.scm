(import_declaration (identifier) @module @all)
