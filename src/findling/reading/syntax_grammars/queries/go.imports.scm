(import_spec name: (package_identifier)? @local path: (_ (_) @module))
(import_spec name: (dot) @all path: (_ (_) @module))
