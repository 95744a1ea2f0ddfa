(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration [(identifier) (scoped_identifier)] @qualified .)
(import_declaration [(identifier) (scoped_identifier)] @module (asterisk) @all)
