// Says what names mean in a folder of TypeScript or JavaScript, by the language service of `typescript` (npm):
// standard input has {folder, files, places: [[path, line, column], ...]}, standard output a list with, for each place,
// the places of definitions, null where the service does not know, "import" where the name stands in an import.

const path = require("path");
const fs = require("fs");
const ts = require("typescript");

const { folder, files, places } = JSON.parse(fs.readFileSync(0, "utf8"));
const options = {
  allowJs: true,
  maxNodeModuleJsDepth: 0,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  jsx: ts.JsxEmit.Preserve,
  esModuleInterop: true,
};
for (const name of ["tsconfig.base.json", "tsconfig.json"]) {
  const read = ts.readConfigFile(path.join(folder, name), ts.sys.readFile).config?.compilerOptions ?? {};
  if (read.customConditions) options.customConditions = read.customConditions;
  if (read.paths) Object.assign(options, { paths: read.paths, baseUrl: path.join(folder, read.baseUrl ?? ".") });
}
const whole = (name) => path.join(folder, name);
const host = {
  getScriptFileNames: () => files.map(whole),
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => (ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name)) : undefined),
  getCurrentDirectory: () => folder,
  getCompilationSettings: () => options,
  getDefaultLibFileName: (each) => ts.getDefaultLibFilePath(each),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host);
const program = service.getProgram();

function nodeAt(node, offset) {
  return ts.forEachChild(node, (child) => (child.getStart() <= offset && offset < child.end ? nodeAt(child, offset) : undefined)) ?? node;
}

function said([name, line, column]) {
  const source = program.getSourceFile(whole(name));
  if (!source) return null;
  const offset = ts.getPositionOfLineAndCharacter(source, line - 1, column);
  for (let node = nodeAt(source, offset); node; node = node.parent)
    if (ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node) || ts.isExportDeclaration(node)) return "import";
  const found = service.getDefinitionAtPosition(whole(name), offset) ?? [];
  const meant = found.map((each) => {
    const at = program.getSourceFile(each.fileName);
    const inside = each.fileName.startsWith(folder + path.sep) && !each.fileName.includes("node_modules");
    return [inside ? path.relative(folder, each.fileName) : "", ts.getLineAndCharacterOfPosition(at, each.textSpan.start).line + 1];
  });
  const itself = meant.length === 1 && meant[0][0] === name && meant[0][1] === line;
  return meant.length && !itself ? meant : null;
}

process.stdout.write(JSON.stringify({ version: `typescript ${ts.version}`, meant: places.map(said) }));
