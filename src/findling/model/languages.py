"""The table of languages, and which one a file is written in.

Knows names, extensions, comment marks and which grammar parses what; must not load grammars, read files or
import anything heavy: it lies on the start path of the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

from findling.model.types import Kind


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table.

    ``extensions`` are lower case with their dot (``.d.ts`` beats ``.ts``); ``filenames`` are lower-case whole
    names; ``grammar`` is the parser's name, None where there is none; ``line_comments`` and ``block_comments``
    are markers as written in source (the first line marker is the usual one).
    """

    id: str
    name: str
    kind: Kind
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    grammar: str | None = None
    line_comments: tuple[str, ...] = ()
    block_comments: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


_Comments = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]

_NONE: _Comments = ((), ())
_C: _Comments = (("//",), (("/*", "*/"),))
_CSS: _Comments = ((), (("/*", "*/"),))
_HASH: _Comments = (("#",), ())
_HASH_C: _Comments = (("#", "//"), (("/*", "*/"),))
_XML: _Comments = ((), (("<!--", "-->"),))
_SEMI: _Comments = ((";",), ())
_LISP: _Comments = ((";",), (("#|", "|#"),))
_ML: _Comments = ((), (("(*", "*)"),))
_DASH: _Comments = (("--",), ())
_PERCENT: _Comments = (("%",), ())
_SQL: _Comments = (("--",), (("/*", "*/"),))
_HASKELL: _Comments = (("--",), (("{-", "-}"),))
_TEMPLATE_TAG: _Comments = ((), (("<%#", "%>"), ("<!--", "-->")))
_BRACES: _Comments = ((), (("{{!--", "--}}"), ("{{!", "}}"), ("<!--", "-->")))

_OWN = "="  # the grammar has the language's own id


def _language(
    id: str,
    name: str,
    kind: Kind,
    extensions: str = "",
    filenames: str = "",
    *,
    grammar: str | None = None,
    comments: _Comments = _NONE,
    aliases: str = "",
    interpreters: str = "",
) -> Language:
    line, block = comments
    return Language(
        id=id,
        name=name,
        kind=kind,
        extensions=tuple(extensions.split()),
        filenames=tuple(filenames.split()),
        grammar=id if grammar == _OWN else grammar,
        line_comments=line,
        block_comments=block,
        aliases=tuple(aliases.split()),
        interpreters=tuple(interpreters.split()),
    )


_L = _language
_ROWS: tuple[Language, ...] = (
    # --- code ---------------------------------------------------------------------------------------------
    _L("python", "Python", "code", ".py .pyi .pyw .pyx .pxd .pyx.in .wsgi .gyp .gypi", "sconstruct sconscript wscript",
       grammar=_OWN, comments=_HASH, aliases="py python3 cython pyi", interpreters="python pypy uv"),
    _L("javascript", "JavaScript", "code", ".js .jsx .mjs .cjs .es6 .jsm .sjs", "jakefile",
       grammar=_OWN, comments=_C, aliases="js jsx node ecmascript mjs", interpreters="node nodejs bun qjs"),
    _L("typescript", "TypeScript", "code", ".ts .mts .cts .d.ts .d.mts .d.cts", grammar=_OWN, comments=_C,
       aliases="ts", interpreters="deno ts-node tsx"),
    _L("tsx", "TSX", "code", ".tsx", grammar=_OWN, comments=_C, aliases="typescriptreact"),
    _L("go", "Go", "code", ".go", grammar=_OWN, comments=_C, aliases="golang", interpreters="gorun"),
    _L("rust", "Rust", "code", ".rs", grammar=_OWN, comments=_C, aliases="rs", interpreters="rust-script"),
    _L("java", "Java", "code", ".java .jav", grammar=_OWN, comments=_C, aliases="jdk", interpreters="java jbang"),
    _L("c", "C", "code", ".c .h .idc", grammar=_OWN, comments=_C, aliases="h ansi-c", interpreters="tcc"),
    _L("cpp", "C++", "code", ".cpp .cc .cxx .c++ .cppm .ixx .hpp .hh .hxx .h++ .ipp .inl .tcc .txx .tpp .cu .cuh .ino",
       grammar=_OWN, comments=_C, aliases="c++ cplusplus cxx hpp cuda arduino"),
    _L("csharp", "C#", "code", ".cs .csx .cake", grammar=_OWN, comments=_C, aliases="c# cs dotnet",
       interpreters="dotnet-script"),
    _L("ruby", "Ruby", "code", ".rb .rake .gemspec .ru .rbi .rbs .podspec .jbuilder .thor .rabl .builder",
       "rakefile gemfile guardfile vagrantfile podfile capfile brewfile fastfile appfile dangerfile berksfile thorfile "
       ".irbrc .pryrc .simplecov", grammar=_OWN, comments=(("#",), (("=begin", "=end"),)), aliases="rb",
       interpreters="ruby jruby rbx macruby"),
    _L("php", "PHP", "code", ".php .php3 .php4 .php5 .php7 .php8 .phtml .phps .ctp", grammar=_OWN, comments=_HASH_C,
       aliases="inc", interpreters="php"),
    _L("bash", "Shell", "code", ".sh .bash .zsh .ksh .bats .ebuild .eclass .command",
       ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .envrc pkgbuild "
       "apkbuild gradlew mvnw", grammar=_OWN, comments=_HASH, aliases="sh shell zsh ksh shellscript",
       interpreters="bash sh zsh ksh dash ash bats mksh"),
    _L("fish", "fish", "code", ".fish", comments=_HASH, aliases="fishshell", interpreters="fish"),
    _L("batch", "Batch", "code", ".bat .cmd", grammar=_OWN, comments=(("REM ", "::"), ()), aliases="bat cmd dosbatch"),
    _L("powershell", "PowerShell", "code", ".ps1 .psm1 .psd1", grammar=_OWN, comments=(("#",), (("<#", "#>"),)),
       aliases="ps1 pwsh posh", interpreters="pwsh powershell"),
    _L("lua", "Lua", "code", ".lua .rockspec .luau .nse", ".luacheckrc", grammar=_OWN,
       comments=(("--",), (("--[[", "]]"),)), aliases="luau", interpreters="lua luajit luau texlua"),
    _L("kotlin", "Kotlin", "code", ".kt .kts .ktm", grammar=_OWN, comments=_C, aliases="kt kts", interpreters="kotlin"),
    _L("scala", "Scala", "code", ".scala .sc .sbt", grammar=_OWN, comments=_C, aliases="sbt",
       interpreters="scala scala-cli amm"),
    _L("swift", "Swift", "code", ".swift .swiftinterface", grammar=_OWN, comments=_C, interpreters="swift"),
    _L("haskell", "Haskell", "code", ".hs .lhs .hsc .hs-boot", grammar=_OWN, comments=_HASKELL, aliases="hs ghc",
       interpreters="runhaskell runghc stack"),
    _L("elixir", "Elixir", "code", ".ex .exs", grammar=_OWN, comments=_HASH, aliases="ex exs",
       interpreters="elixir"),
    _L("zig", "Zig", "code", ".zig .zon", grammar=_OWN, comments=(("//",), ()), aliases="zon"),
    _L("ocaml", "OCaml", "code", ".ml .mli .mll .mly .eliom", grammar=_OWN, comments=_ML, aliases="ml",
       interpreters="ocaml ocamlrun"),
    _L("reason", "ReasonML", "code", ".re .rei", comments=_C, aliases="reasonml"),
    _L("rescript", "ReScript", "code", ".res .resi", comments=_C),
    _L("julia", "Julia", "code", ".jl", grammar=_OWN, comments=(("#",), (("#=", "=#"),)), aliases="jl",
       interpreters="julia"),
    _L("perl", "Perl", "code", ".pl .pm .t .pod .psgi .al .perl", "cpanfile makefile.pl", grammar=_OWN,
       comments=(("#",), (("=pod", "=cut"),)), aliases="pl", interpreters="perl"),
    _L("raku", "Raku", "code", ".raku .rakumod .rakutest .p6 .pm6 .pl6", comments=_HASH, aliases="perl6",
       interpreters="raku perl6"),
    _L("r", "R", "code", ".r .rprofile .rd", ".rprofile", grammar=_OWN, comments=_HASH, aliases="rlang rscript",
       interpreters="rscript littler"),
    _L("dart", "Dart", "code", ".dart", grammar=_OWN, comments=_C, interpreters="dart"),
    _L("groovy", "Groovy", "code", ".groovy .gradle .gvy .gsh .grt .nf", "jenkinsfile", grammar=_OWN, comments=_C,
       aliases="gradle jenkinsfile nextflow", interpreters="groovy nextflow"),
    _L("objc", "Objective-C", "code", ".m .mm", grammar=_OWN, comments=_C,
       aliases="objective-c objectivec obj-c objc++ objective-c++ mm"),
    _L("matlab", "MATLAB", "code", ".matlab", comments=(("%", "#"), (("%{", "%}"),)), aliases="octave",
       interpreters="octave"),
    _L("sql", "SQL", "code", ".sql .ddl .dml .psql .pgsql .mysql .plsql .pls .pkb .pks .prc .tsql .hql .cql",
       grammar=_OWN, comments=_SQL, aliases="psql pgsql mysql plsql tsql sqlite hiveql"),
    _L("css", "CSS", "code", ".css .pcss .postcss", grammar=_OWN, comments=_CSS, aliases="postcss"),
    _L("scss", "SCSS", "code", ".scss", grammar=_OWN, comments=_C),
    _L("sass", "Sass", "code", ".sass", comments=_C),
    _L("less", "Less", "code", ".less", comments=_C),
    _L("stylus", "Stylus", "code", ".styl .stylus", comments=_C, aliases="styl"),
    _L("hcl", "HCL", "code", ".tf .hcl .tfvars .nomad .tofu", ".terraformrc terraform.rc", grammar=_OWN,
       comments=_HASH_C, aliases="terraform tf opentofu"),
    _L("proto", "Protocol Buffers", "code", ".proto", grammar=_OWN, comments=_C, aliases="protobuf proto3 proto2"),
    _L("thrift", "Thrift", "code", ".thrift", comments=_HASH_C),
    _L("avdl", "Avro IDL", "code", ".avdl", comments=_C, aliases="avro"),
    _L("capnp", "Cap'n Proto", "code", ".capnp", comments=_HASH, aliases="capnproto"),
    _L("flatbuffers", "FlatBuffers", "code", ".fbs", comments=_C, aliases="fbs"),
    _L("smithy", "Smithy", "code", ".smithy", comments=_C),
    _L("graphql", "GraphQL", "code", ".graphql .gql .graphqls", grammar=_OWN, comments=_HASH, aliases="gql"),
    _L("prisma", "Prisma", "code", ".prisma", comments=_C),
    _L("nix", "Nix", "code", ".nix", grammar=_OWN, comments=(("#",), (("/*", "*/"),)), aliases="nixos"),
    _L("erlang", "Erlang", "code", ".erl .hrl .escript .app.src .xrl .yrl", "rebar.config",
       grammar=_OWN, comments=_PERCENT, aliases="erl", interpreters="escript"),
    _L("gleam", "Gleam", "code", ".gleam", comments=(("//",), ())),
    _L("clojure", "Clojure", "code", ".clj .cljs .cljc .edn .bb .cljd", grammar=_OWN, comments=_SEMI,
       aliases="clj cljs clojurescript edn", interpreters="clojure clj bb"),
    _L("solidity", "Solidity", "code", ".sol", grammar=_OWN, comments=_C, aliases="sol"),
    _L("vyper", "Vyper", "code", ".vy", comments=_HASH),
    _L("move", "Move", "code", ".move", comments=_C),
    _L("cairo", "Cairo", "code", ".cairo", comments=(("//",), ())),
    _L("make", "Make", "code", ".mk .mak .make", "makefile gnumakefile bsdmakefile kbuild", grammar=_OWN,
       comments=_HASH, aliases="makefile gnumake", interpreters="make gmake"),
    _L("just", "just", "code", ".just", "justfile .justfile", grammar=_OWN, comments=_HASH, aliases="justfile",
       interpreters="just"),
    _L("cmake", "CMake", "code", ".cmake", "cmakelists.txt", grammar=_OWN, comments=(("#",), (("#[[", "]]"),)),
       aliases="cmakelists", interpreters="cmake"),
    _L("meson", "Meson", "code", "", "meson.build meson_options.txt meson.options", comments=_HASH),
    _L("ninja", "Ninja", "code", ".ninja", comments=_HASH),
    _L("autoconf", "Autoconf", "code", ".ac .m4 .am", "configure.ac configure.in", comments=(("#", "dnl"), ()),
       aliases="m4 automake"),
    _L("starlark", "Starlark", "code", ".bzl .star .bazel .buck",
       "build workspace buck module.bazel tiltfile", grammar=_OWN, comments=_HASH,
       aliases="bazel skylark bzl"),
    _L("dockerfile", "Dockerfile", "code", ".dockerfile .containerfile", "dockerfile containerfile", grammar=_OWN,
       comments=_HASH, aliases="docker containerfile"),
    _L("vue", "Vue", "code", ".vue", grammar=_OWN, comments=_XML, aliases="vuejs"),
    _L("svelte", "Svelte", "code", ".svelte", grammar=_OWN, comments=_XML),
    _L("astro", "Astro", "code", ".astro", grammar=_OWN, comments=_XML),
    _L("marko", "Marko", "code", ".marko", comments=_XML),
    _L("jinja", "Jinja", "code", ".j2 .jinja .jinja2 .njk .nunjucks .twig .liquid .sls", grammar="jinja2",
       comments=((), (("{#", "#}"),)), aliases="jinja2 j2 twig nunjucks liquid django"),
    _L("erb", "ERB", "code", ".erb .rhtml", grammar="embedded_template", comments=_TEMPLATE_TAG,
       aliases="embedded_template"),
    _L("ejs", "EJS", "code", ".ejs .eco", grammar="embedded_template", comments=_TEMPLATE_TAG),
    _L("heex", "HEEx", "code", ".heex .leex .eex .html.eex", grammar=_OWN, comments=_TEMPLATE_TAG, aliases="eex leex"),
    _L("gotmpl", "Go template", "code", ".gotmpl .tmpl .gohtml .go.tmpl", grammar=_OWN,
       comments=((), (("{{/*", "*/}}"),)), aliases="gotemplate helm"),
    _L("blade", "Blade", "code", ".blade.php", comments=((), (("{{--", "--}}"),)), aliases="laravel"),
    _L("handlebars", "Handlebars", "code", ".hbs .handlebars .mustache", comments=_BRACES,
       aliases="hbs mustache glimmer"),
    _L("razor", "Razor", "code", ".cshtml .razor .vbhtml", comments=((), (("@*", "*@"),)), aliases="cshtml blazor"),
    _L("haml", "Haml", "code", ".haml", comments=(("-#",), ())),
    _L("slim", "Slim", "code", ".slim", comments=(("/",), ())),
    _L("pug", "Pug", "code", ".pug .jade", comments=(("//",), ()), aliases="jade"),
    _L("jsp", "JSP", "code", ".jsp .jspx .jspf .tag .ftl .ftlh .vm", comments=((), (("<%--", "--%>"),)),
       aliases="freemarker velocity"),
    _L("fortran", "Fortran", "code", ".f .for .f77 .f90 .f95 .f03 .f08 .ftn .fpp", grammar=_OWN,
       comments=(("!",), ()), aliases="f90 f77"),
    _L("scheme", "Scheme", "code", ".scm .ss .sld .sps", grammar=_OWN, comments=_LISP, aliases="scm guile",
       interpreters="guile scheme csi chibi-scheme gosh"),
    _L("racket", "Racket", "code", ".rkt .rktd .rktl .scrbl", grammar=_OWN, comments=_LISP, aliases="rkt",
       interpreters="racket"),
    _L("commonlisp", "Common Lisp", "code", ".lisp .lsp .cl .asd", comments=_LISP, aliases="lisp cl common-lisp",
       interpreters="sbcl clisp ecl ccl"),
    _L("elisp", "Emacs Lisp", "code", ".el", ".emacs", comments=_SEMI, aliases="emacs-lisp emacs",
       interpreters="emacs"),
    _L("fennel", "Fennel", "code", ".fnl", comments=_SEMI, interpreters="fennel"),
    _L("janet", "Janet", "code", ".janet", comments=_HASH, interpreters="janet"),
    _L("vim", "Vim script", "code", ".vim .vimrc", ".vimrc _vimrc .gvimrc .exrc", grammar=_OWN, comments=(('"',), ()),
       aliases="viml vimscript"),
    _L("fsharp", "F#", "code", ".fs .fsi .fsx", comments=(("//",), (("(*", "*)"),)), aliases="f# fs"),
    _L("vb", "Visual Basic", "code", ".vb .vbs .bas .frm", comments=(("'",), ()),
       aliases="vbnet visualbasic vba vbscript basic"),
    _L("d", "D", "code", ".d .di", comments=_C, aliases="dlang", interpreters="rdmd dmd"),
    _L("nim", "Nim", "code", ".nim .nims .nimble", comments=(("#",), (("#[", "]#"),)), interpreters="nim"),
    _L("crystal", "Crystal", "code", ".cr", comments=_HASH, aliases="cr", interpreters="crystal"),
    _L("v", "V", "code", ".vsh .vv", comments=_C, aliases="vlang"),
    _L("odin", "Odin", "code", ".odin", comments=_C),
    _L("ada", "Ada", "code", ".adb .ads .ada .gpr", comments=_DASH),
    _L("pascal", "Pascal", "code", ".pas .pp .dpr .lpr .dfm .lfm", comments=(("//",), (("{", "}"), ("(*", "*)"))),
       aliases="delphi objectpascal"),
    _L("cobol", "COBOL", "code", ".cob .cbl .cpy .cobol", comments=(("*>",), ())),
    _L("assembly", "Assembly", "code", ".s .asm .nasm .a51", comments=((";", "#"), (("/*", "*/"),)),
       aliases="asm nasm gas"),
    _L("llvm", "LLVM IR", "code", ".ll .mlir .td", comments=_SEMI, aliases="llvm-ir mlir tablegen"),
    _L("wat", "WebAssembly text", "code", ".wat .wast", grammar=_OWN, comments=((";;",), (("(;", ";)"),)),
       aliases="wast wasm"),
    _L("wit", "WIT", "code", ".wit", comments=_C),
    _L("verilog", "Verilog", "code", ".v .vh .sv .svh", comments=_C, aliases="systemverilog sv"),
    _L("vhdl", "VHDL", "code", ".vhd .vhdl", comments=_DASH),
    _L("chisel", "FIRRTL", "code", ".fir", comments=_SEMI, aliases="firrtl"),
    _L("glsl", "GLSL", "code", ".glsl .vert .frag .geom .tesc .tese .comp .shader", comments=_C, aliases="shader"),
    _L("hlsl", "HLSL", "code", ".hlsl .fx .fxh .hlsli .cginc", comments=_C),
    _L("wgsl", "WGSL", "code", ".wgsl", comments=_C),
    _L("metal", "Metal", "code", ".metal", comments=_C),
    _L("opencl", "OpenCL", "code", ".opencl .clh", comments=_C),
    _L("gdscript", "GDScript", "code", ".gd", comments=_HASH, aliases="godot gd"),
    _L("haxe", "Haxe", "code", ".hx .hxsl", comments=_C),
    _L("actionscript", "ActionScript", "code", ".as", comments=_C, aliases="as3"),
    _L("coffeescript", "CoffeeScript", "code", ".coffee .litcoffee .cson", "cakefile", comments=_HASH,
       aliases="coffee", interpreters="coffee"),
    _L("livescript", "LiveScript", "code", ".ls", comments=_HASH),
    _L("elm", "Elm", "code", ".elm", comments=_HASKELL),
    _L("purescript", "PureScript", "code", ".purs", comments=_HASKELL, aliases="purs"),
    _L("idris", "Idris", "code", ".idr .lidr", comments=_HASKELL),
    _L("agda", "Agda", "code", ".agda .lagda", comments=_HASKELL),
    _L("lean", "Lean", "code", ".lean", comments=(("--",), (("/-", "-/"),)), aliases="lean4"),
    _L("coq", "Coq", "code", ".coq", comments=_ML, aliases="rocq gallina"),
    _L("isabelle", "Isabelle", "code", ".thy", comments=_ML),
    _L("sml", "Standard ML", "code", ".sml .sig .fun", comments=_ML, aliases="standard-ml"),
    _L("prolog", "Prolog", "code", ".pro .prolog .plt", comments=(("%",), (("/*", "*/"),)),
       interpreters="swipl prolog"),
    _L("tla", "TLA+", "code", ".tla", comments=(("\\*",), (("(*", "*)"),)), aliases="tla+ tlaplus"),
    _L("dafny", "Dafny", "code", ".dfy", comments=_C),
    _L("tcl", "Tcl", "code", ".tcl .tk .exp", comments=_HASH, interpreters="tclsh wish expect"),
    _L("awk", "Awk", "code", ".awk .gawk", comments=_HASH, interpreters="awk gawk mawk nawk"),
    _L("sed", "sed", "code", ".sed", comments=_HASH, interpreters="sed gsed"),
    _L("jq", "jq", "code", ".jq", comments=_HASH, interpreters="jq gojq"),
    _L("nushell", "Nushell", "code", ".nu", comments=_HASH, aliases="nu", interpreters="nu"),
    _L("applescript", "AppleScript", "code", ".applescript", comments=(("--",), (("(*", "*)"),)),
       interpreters="osascript"),
    _L("autohotkey", "AutoHotkey", "code", ".ahk", comments=_SEMI, aliases="ahk"),
    _L("abap", "ABAP", "code", ".abap", comments=(('"', "*"), ())),
    _L("apex", "Apex", "code", ".apex .trigger", comments=_C, aliases="salesforce"),
    _L("sas", "SAS", "code", ".sas", comments=_CSS),
    _L("stata", "Stata", "code", ".do .ado", comments=_C),
    _L("smalltalk", "Smalltalk", "code", ".st", comments=((), (('"', '"'),))),
    _L("forth", "Forth", "code", ".4th .fth .forth", comments=(("\\",), (("(", ")"),))),
    _L("apl", "APL", "code", ".apl .dyalog .aplf", comments=(("⍝",), ())),
    _L("bicep", "Bicep", "code", ".bicep .bicepparam", comments=_C),
    _L("rego", "Rego", "code", ".rego", comments=_HASH, aliases="opa"),
    _L("cue", "CUE", "code", ".cue", comments=(("//",), ())),
    _L("dhall", "Dhall", "code", ".dhall", comments=_HASKELL),
    _L("jsonnet", "Jsonnet", "code", ".jsonnet .libsonnet", grammar=_OWN, comments=_HASH_C, aliases="libsonnet"),
    _L("pkl", "Pkl", "code", ".pkl", comments=_C),
    _L("puppet", "Puppet", "code", ".epp", comments=_HASH),
    _L("gherkin", "Gherkin", "code", ".feature", comments=_HASH, aliases="cucumber"),
    _L("robot", "Robot Framework", "code", ".robot .resource", comments=_HASH, aliases="robotframework"),
    _L("qml", "QML", "code", ".qml", comments=_C),
    _L("vala", "Vala", "code", ".vala .vapi", comments=_C),
    _L("mojo", "Mojo", "code", ".mojo .🔥", comments=_HASH),
    _L("ballerina", "Ballerina", "code", ".bal", comments=(("//",), ())),
    _L("pony", "Pony", "code", ".pony", comments=_C),
    _L("hack", "Hack", "code", ".hack .hhi", comments=_HASH_C, interpreters="hhvm"),
    _L("antlr", "ANTLR", "code", ".g4 .g", comments=_C, aliases="g4"),
    _L("yacc", "Yacc", "code", ".y .yy .ypp .l .lex", comments=_C, aliases="bison lex flex"),
    _L("peg", "PEG grammar", "code", ".peg .pegjs .pest .lalrpop .ebnf .bnf .abnf", comments=_C,
       aliases="pest ebnf bnf"),
    _L("swig", "SWIG", "code", ".swg", comments=_C),
    _L("bpftrace", "bpftrace", "code", ".bt", comments=_C, interpreters="bpftrace"),
    _L("linkerscript", "Linker script", "code", ".ld .lds", comments=_CSS),
    _L("spec", "RPM spec", "code", ".spec", comments=_HASH, aliases="rpmspec"),
    _L("gnuplot", "Gnuplot", "code", ".gp .gnuplot", comments=_HASH, interpreters="gnuplot"),
    _L("mermaid", "Mermaid", "code", ".mmd .mermaid", comments=(("%%",), ())),
    _L("plantuml", "PlantUML", "code", ".puml .plantuml .iuml", comments=(("'",), ()), aliases="puml"),
    _L("dot", "Graphviz", "code", ".dot .gv", comments=_HASH_C, aliases="graphviz"),
    _L("diff", "Diff", "code", ".diff .patch", aliases="patch"),
    # --- documents ----------------------------------------------------------------------------------------
    _L("markdown", "Markdown", "docs", ".md .markdown .mdown .mkd .mkdn .mdwn .mdx .rmd .qmd .mdc .livemd",
       grammar=_OWN, comments=_XML, aliases="md mdx quarto rmarkdown"),
    _L("rst", "reStructuredText", "docs", ".rst .rest .rst.txt", grammar=_OWN, comments=((".. ",), ()),
       aliases="restructuredtext"),
    _L("asciidoc", "AsciiDoc", "docs", ".adoc .asciidoc", grammar=_OWN,
       comments=(("//",), (("////", "////"),)), aliases="adoc"),
    _L("org", "Org", "docs", ".org", grammar=_OWN, comments=_HASH, aliases="orgmode org-mode"),
    _L("latex", "LaTeX", "docs", ".tex .latex .ltx .sty .cls .dtx .ins .bib .bbl", grammar=_OWN, comments=_PERCENT,
       aliases="tex bibtex"),
    _L("typst", "Typst", "docs", ".typ", grammar=_OWN, comments=_C, aliases="typ"),
    _L("html", "HTML", "docs", ".html .htm .xhtml .shtml", grammar=_OWN, comments=_XML, aliases="htm xhtml"),
    _L("notebook", "Jupyter notebook", "docs", ".ipynb", grammar="json", aliases="ipynb jupyter"),
    _L("textile", "Textile", "docs", ".textile"),
    _L("mediawiki", "MediaWiki", "docs", ".mediawiki .wiki", comments=_XML, aliases="wiki"),
    _L("creole", "Creole", "docs", ".creole"),
    _L("rdoc", "RDoc", "docs", ".rdoc"),
    _L("texinfo", "Texinfo", "docs", ".texi .texinfo", comments=(("@c ", "@comment "), ())),
    _L("djot", "Djot", "docs", ".dj .djot"),
    _L("man", "Manual page", "docs", ".roff .man .mdoc .1 .2 .3 .4 .5 .6 .7 .8 .1m .3pm", comments=(('.\\"',), ()),
       aliases="roff troff nroff groff"),
    _L("subtitles", "Subtitles", "docs", ".srt .vtt"),
    _L("pdf", "PDF", "docs", ".pdf"),
    _L("docx", "Word document", "docs", ".docx .docm", aliases="word"),
    _L("pptx", "Presentation", "docs", ".pptx .pptm", aliases="powerpoint"),
    _L("xlsx", "Workbook", "docs", ".xlsx .xlsm", aliases="excel"),
    _L("epub", "E-book", "docs", ".epub"),
    _L("text", "Text", "docs", ".txt .text .asc .me .nfo",
       "readme license licence copying copying.lesser authors contributors changelog changes news notice todo install "
       "thanks credits maintainers history faq version codeowners owners", aliases="txt plain plaintext"),
    # --- data ---------------------------------------------------------------------------------------------
    _L("json", "JSON", "data", ".json .geojson .webmanifest .jsonld .har .topojson .avsc .arb .map .code-workspace",
       ".eslintrc .babelrc .prettierrc .bowerrc .jshintrc .stylelintrc .watchmanconfig .nycrc .jscsrc .swcrc "
       ".c8rc .all-contributorsrc", grammar=_OWN, aliases="geojson jsonld"),
    _L("jsonc", "JSON with comments", "data", ".jsonc", "tsconfig.json jsconfig.json devcontainer.json",
       grammar=_OWN, comments=_C),
    _L("json5", "JSON5", "data", ".json5", grammar=_OWN, comments=_C),
    _L("jsonl", "JSON lines", "data", ".jsonl .ndjson .ldjson", aliases="ndjson jsonlines"),
    _L("yaml", "YAML", "data", ".yaml .yml .eyaml .yaml.in .cff .sublime-syntax",
       ".clang-format .clang-tidy .clangd .gemrc .yamllint", grammar=_OWN, comments=_HASH, aliases="yml"),
    _L("toml", "TOML", "data", ".toml", "pipfile cargo.toml.orig", grammar=_OWN, comments=_HASH),
    _L("xml", "XML", "data",
       ".xml .xsd .xsl .xslt .svg .plist .csproj .vbproj .fsproj .vcxproj .props .targets .nuspec "
       ".resx .xaml .axml .wsdl .rss .atom .pom .iml .storyboard .xib .ui .qrc .fxml .kml .gpx .tmx .xlf "
       ".xliff .config .slnx .rng .x3d .dita .ditamap .opml .jelly .wxs .filters .vsixmanifest .ant .xul .mxml",
       grammar=_OWN, comments=_XML, aliases="svg xsd xslt plist"),
    _L("dtd", "DTD", "data", ".dtd", grammar=_OWN, comments=_XML),
    _L("kdl", "KDL", "data", ".kdl", grammar=_OWN, comments=_C),
    _L("ini", "INI", "data", ".ini .cfg .conf .cnf .service .socket .timer .desktop .editorconfig .inf .reg .url .sln "
       ".prefs .toc .pylintrc .mount .target .path .network .netdev",
       ".editorconfig .gitconfig .gitmodules .flake8 .pylintrc .coveragerc .npmrc .pypirc .hgrc .wgetrc "
       ".curlrc .inputrc .gdbinit .lldbinit .bumpversion.cfg .yarnrc .tmux.conf", grammar=_OWN,
       comments=(("#", ";"), ()), aliases="cfg conf config"),
    _L("properties", "Properties", "data", ".properties .env .envfile", ".env.example .env.sample .env.template",
       grammar=_OWN, comments=(("#", "!"), ()), aliases="dotenv env"),
    _L("gitignore", "Ignore list", "data", ".gitignore .ignore .dockerignore",
       ".gitignore .ignore .findlingignore .dockerignore .npmignore .eslintignore .prettierignore .hgignore "
       ".gitattributes .helmignore .gcloudignore .vercelignore .stylelintignore .rgignore .fdignore",
       grammar=_OWN, comments=_HASH, aliases="ignore gitattributes"),
    _L("csv", "CSV", "data", ".csv .tsv .psv .tab", aliases="tsv"),
    _L("log", "Log", "data", ".log"),
    _L("po", "gettext", "data", ".po .pot", comments=_HASH, aliases="gettext"),
    _L("strings", "Localized strings", "data", ".strings .stringsdict", comments=_CSS),
    _L("requirements", "Requirements", "data", "",
       "requirements.txt requirements.in constraints.txt dev-requirements.txt",
       comments=_HASH),
    _L("gomod", "Go module", "data", "", "go.mod go.work", comments=(("//",), ()), aliases="go.mod"),
    _L("gosum", "Go checksums", "data", "", "go.sum go.work.sum"),
    _L("lock", "Lock file", "data", ".lock .lockfile",
       "yarn.lock cargo.lock poetry.lock gemfile.lock composer.lock pipfile.lock uv.lock flake.lock mix.lock "
       "podfile.lock pubspec.lock bun.lock package.resolved", aliases="lockfile"),
    _L("snapshot", "Test snapshot", "data", ".snap .ambr", comments=_C),
    _L("bibliography", "Citation data", "data", ".ris .enw"),
    _L("pem", "Certificate", "data", ".crt .cer .csr .pub", aliases="certificate"),
    _L("ical", "iCalendar", "data", ".ics .vcf", aliases="vcard"),
    _L("rdf", "RDF", "data", ".ttl .n3 .nt .nq .rdf .owl .trig", comments=_HASH, aliases="turtle owl"),
    _L("sparql", "SPARQL", "data", ".sparql .rq", comments=_HASH),
    _L("http", "HTTP requests", "data", ".http", comments=_HASH),
    _L("hosts", "Hosts and zones", "data", ".zone", "hosts", comments=_HASH),
)  # fmt: skip

LANGUAGES: dict[str, Language] = {language.id: language for language in _ROWS}
TEXT = LANGUAGES["text"]


def _index() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language], dict[str, Language]]:
    extensions: dict[str, Language] = {}
    filenames: dict[str, Language] = {}
    interpreters: dict[str, Language] = {}
    names: dict[str, Language] = {}
    for language in _ROWS:
        for extension in language.extensions:
            extensions.setdefault(extension, language)
        for filename in language.filenames:
            filenames.setdefault(filename, language)
        for interpreter in language.interpreters:
            interpreters.setdefault(interpreter, language)
        for name in (language.id, language.name.lower()):
            names[name] = language
    for language in _ROWS:
        for name in language.aliases:
            names.setdefault(name, language)
    return extensions, filenames, interpreters, names


_BY_EXTENSION, _BY_FILENAME, _BY_INTERPRETER, _BY_NAME = _index()

# Names like Dockerfile.dev and Makefile.linux, where what follows the dot says nothing about the language.
_FILENAME_STEMS = {
    "dockerfile": LANGUAGES["dockerfile"],
    "containerfile": LANGUAGES["dockerfile"],
    "makefile": LANGUAGES["make"],
    "gnumakefile": LANGUAGES["make"],
    "jenkinsfile": LANGUAGES["groovy"],
    "readme": TEXT,
    "license": TEXT,
}

# Endings that wrap another name: `config.h.in` is C, `settings.py.example` is Python.
_WRAPPERS = frozenset((".in", ".example", ".sample", ".template", ".dist", ".orig", ".bak", ".tpl", ".default", ".inc"))

_HEAD_BYTES = 4096  # the language of an ambiguous file shows in its first screens or not at all


def language_of(path: str, head: bytes = b"") -> Language:
    """The language of the file at ``path``: by name, then longest extension, then the ``#!`` line; else ``text``.

    ``head`` is the start of the file (the first 4 KiB are looked at); with it, extensions that several
    languages share (``.h``, ``.m``, ``.ts``, ``.pl``, ``.v``, ``.cls``, ``.inc`` …) are told apart.
    """
    name = path[path.rfind("/") + 1 :].lower()
    for _ in range(4):  # each turn strips one wrapper; nobody nests more of them
        language = _BY_FILENAME.get(name)
        if language is not None:
            return language
        # Some extension belongs to a language; the first dot that leads to one is the longest such extension.
        dot = name.find(".", 1)
        while dot >= 0:
            extension = name[dot:]
            language = _BY_EXTENSION.get(extension)
            if language is not None:
                if extension == ".txt" and name.startswith(("requirements", "constraints")):
                    return LANGUAGES["requirements"]
                return _tell_apart(language, extension, head[:_HEAD_BYTES]) if head else language
            dot = name.find(".", dot + 1)
        last_dot = name.rfind(".")
        if last_dot <= 0 or name[last_dot:] not in _WRAPPERS:
            break
        name = name[:last_dot]
    stem = name.partition(".")[0]
    language = _FILENAME_STEMS.get(stem)
    if language is not None:
        return language
    return _from_head(head[:_HEAD_BYTES]) if head else TEXT


def find_language(name_or_alias: str) -> Language | None:
    """The language that people call ``name_or_alias`` (id, display name, alias or ``.ext``), or None."""
    key = name_or_alias.strip().lower()
    return _BY_NAME.get(key) or _BY_EXTENSION.get(key if key.startswith(".") else "." + key)


def _interpreter(head: bytes) -> str:
    """The program's name in a ``#!`` line, without its folder; empty when there is none."""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].split(b"\n", 1)[0].decode("latin-1").split()
    while words:
        word = words.pop(0)
        program = word[word.rfind("/") + 1 :]
        if program == "env" or word.startswith("-") or "=" in word:
            continue
        return program.lower()
    return ""


def _from_head(head: bytes) -> Language:
    program = _interpreter(head)
    if program:
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789."), TEXT)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:256].lower()
    if start.startswith(b"<?php"):
        return LANGUAGES["php"]
    if start.startswith(b"<?xml"):
        return LANGUAGES["xml"]
    if start.startswith((b"<!doctype html", b"<html")):
        return LANGUAGES["html"]
    if start.startswith(b"%yaml"):
        return LANGUAGES["yaml"]
    if b"-*-" in start:  # an Emacs mode line, alone or as `mode: NAME;`
        inside = start.split(b"-*-", 2)[1].decode("latin-1")
        for part in inside.split(";"):
            key, colon, value = part.partition(":")
            found = find_language(value if colon and key.strip() == "mode" else "" if colon else part)
            if found is not None:
                return found
    return TEXT


_CPP_MARKS = (b"class ", b"namespace ", b"template<", b"template <", b"public:", b"private:", b"protected:", b"std::",
              b"constexpr ", b"typename ", b"using ", b"#include <string>", b"#include <vector>", b"nullptr",
              b"virtual ", b"operator")  # fmt: skip
_OBJC_MARKS = (b"@interface", b"@protocol", b"@implementation", b"@property", b"@class", b"#import ", b"@end",
               b"NS_ASSUME_NONNULL")  # fmt: skip


def _strip_c_comments(head: bytes) -> bytes:
    """``head`` without its comments, so that prose like "class of errors" counts for nothing."""
    parts: list[bytes] = []
    rest = head
    while True:
        before, opened, after = rest.partition(b"/*")
        parts.append(before)
        if not opened:
            break
        rest = after.partition(b"*/")[2]
    return b"\n".join(line.partition(b"//")[0] for line in b"".join(parts).split(b"\n"))


def _tell_apart(language: Language, extension: str, head: bytes) -> Language:
    """``language`` unless the file's start shows another one that shares ``extension``."""
    chosen = language.id
    if extension == ".h":
        code = _strip_c_comments(head)
        # `extern "C"` and `#ifdef __cplusplus` mean C that C++ may include; the marks inside them say nothing.
        if any(mark in code for mark in _OBJC_MARKS):
            chosen = "objc"
        elif b"__cplusplus" not in code and any(mark in code for mark in _CPP_MARKS):
            chosen = "cpp"
    elif extension == ".m":
        first = head.lstrip()
        objc = any(mark in head for mark in _OBJC_MARKS) or b"#include" in head
        if not objc and (first.startswith((b"%", b"function ", b"classdef ")) or b"\nfunction " in head):
            chosen = "matlab"
    elif extension in (".ts", ".mts") and head.lstrip().startswith((b"<?xml", b"<!DOCTYPE TS")):
        chosen = "xml"
    elif extension in (".pl", ".t", ".pm"):
        first_code = head.lstrip()
        if extension == ".pl" and (b"\n:- " in head or first_code.startswith(b":- ")):
            chosen = "prolog"
        elif b"use v6" in head or b"\nunit module" in head:
            chosen = "raku"
    elif extension == ".v" and (b"Require Import" in head or b"Theorem " in head or b"Proof." in head):
        chosen = "coq"
    elif extension == ".v" and (head.startswith(b"module main") or b"\nfn " in head or b"\npub fn " in head):
        chosen = "v"
    elif extension == ".cls" and b"\\" not in head and b"class " in head:
        chosen = "apex"
    elif extension == ".fs" and (b"#version" in head or b"gl_FragColor" in head):
        chosen = "glsl"
    elif extension == ".r" and head.lstrip().startswith(b"REBOL"):
        chosen = "text"
    elif extension == ".d" and not any(mark in head for mark in (b"module ", b"import ", b"void ", b"{")):
        chosen = "make"
    elif extension == ".pp" and (b"class " in head or b"define " in head) and b"=>" in head:
        chosen = "puppet"
    elif extension == ".cl" and b"__kernel" in head:
        chosen = "opencl"
    elif extension == ".s" and head.startswith(b"#!"):
        return _from_head(head)
    elif extension == ".html" and b"{{ define " in head:
        chosen = "gotmpl"
    elif extension == ".php" and b"<?hh" in head[:64]:
        chosen = "hack"
    elif extension in (".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8"):
        if not head.startswith((b".", b"'", b"\\")) and b"\n.SH" not in head:
            chosen = "text"
    elif extension in (".conf", ".cfg", ".config"):
        start = head.lstrip()
        if start.startswith(b"<?xml") or (extension == ".config" and start.startswith(b"<")):
            chosen = "xml"
        elif extension == ".config":
            chosen = "ini"
        elif start.startswith(b"{"):
            chosen = "json"
    return LANGUAGES[chosen]
