(package_header (qualified_identifier) @package)
(import (qualified_identifier) @qualified (identifier)? @local)
(import (qualified_identifier) @module "*" @all)
