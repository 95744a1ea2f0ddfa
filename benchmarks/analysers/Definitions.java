import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

/**
 * Says what names mean in a folder of Java, by the compiler of the JDK: input and output as typescript.js. What is
 * missing of libraries is passed over.
 */
class Definitions {
    static final Map<String, Set<String>> MEANT = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        String asked = new String(System.in.readAllBytes());
        String folder = text(asked, "folder");
        List<String> files = new ArrayList<>();
        var list = asked.substring(asked.indexOf("\"files\": [") + 10, asked.indexOf("], \"places\""));
        for (String each : list.split(", ")) files.add(each.substring(1, each.length() - 1));
        var compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, null);
        var paths = files.stream().map(each -> Path.of(folder, each)).filter(each -> !each.endsWith("module-info.java")).toList();
        var options = List.of("-proc:none", "-Xmaxerrs", "1000000", "-implicit:none");
        var task = (JavacTask) compiler.getTask(Writer.nullWriter(), manager, problem -> {}, options, null, manager.getJavaFileObjectsFromPaths(paths));
        var trees = Trees.instance(task);
        var units = new ArrayList<CompilationUnitTree>();
        task.parse().forEach(units::add);
        try {
            task.analyze();
        } catch (RuntimeException | Error problem) {
            System.err.println("javac stopped early: " + problem);
        }
        for (var unit : units) new Uses(trees, folder, unit).scan(unit, null);
        StringBuilder answer = new StringBuilder("{\"version\": \"javac " + Runtime.version().feature() + "\", \"meant\": [");
        Map<String, String[]> texts = new HashMap<>();
        String separator = "";
        for (String each : asked.substring(asked.indexOf("\"places\": [") + 11).split("\\], ?\\[")) {
            String[] parts = each.replaceAll("[\\[\\]{}\"]", "").split(", ");
            if (parts.length < 3) continue;
            int line = Integer.parseInt(parts[1].strip()), column = Integer.parseInt(parts[2].strip());
            String[] lines = texts.computeIfAbsent(parts[0], path -> {
                try {
                    return Files.readString(Path.of(folder, path)).split("\n", -1);
                } catch (IOException problem) {
                    return new String[0];
                }
            });
            int end = column;
            String source = line <= lines.length ? lines[line - 1] : "";
            while (end < source.length() && Character.isJavaIdentifierPart(source.charAt(end))) end++;
            var found = MEANT.get(parts[0] + ":" + line + ":" + (column < end ? source.substring(column, end) : ""));
            boolean imports = source.strip().startsWith("import ");
            answer.append(separator).append(imports ? "\"import\"" : found == null ? "null" : "[" + String.join(", ", found) + "]");
            separator = ", ";
        }
        System.out.println(answer.append("]}"));
    }

    static String text(String json, String key) {
        int start = json.indexOf("\"" + key + "\": \"") + key.length() + 5;
        return json.substring(start, json.indexOf('"', start));
    }

    static class Uses extends TreePathScanner<Void, Void> {
        final Trees trees;
        final String folder;
        final CompilationUnitTree unit;
        final LineMap lines;

        Uses(Trees trees, String folder, CompilationUnitTree unit) {
            this.trees = trees;
            this.folder = folder;
            this.unit = unit;
            this.lines = unit.getLineMap();
        }

        String inner(CompilationUnitTree each) {
            return Path.of(folder).relativize(Path.of(each.getSourceFile().toUri())).toString();
        }

        void add(Tree tree, Name name, Element element, boolean atEnd) {
            if (element == null || element.asType() != null && element.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) return;
            long at = atEnd ? trees.getSourcePositions().getEndPosition(unit, tree) : trees.getSourcePositions().getStartPosition(unit, tree);
            if (at < 0) return;
            var target = trees.getPath(element);
            String meant = "[\"\", 0]";
            if (target != null) {
                var where = target.getCompilationUnit();
                long start = trees.getSourcePositions().getStartPosition(where, target.getLeaf());
                long line = nameLine(where, target.getLeaf(), element, start);
                meant = "[\"" + inner(where) + "\", " + line + "]";
            }
            MEANT.computeIfAbsent(inner(unit) + ":" + lines.getLineNumber(at - (atEnd ? 1 : 0)) + ":" + name, key -> new TreeSet<>()).add(meant);
        }

        /** The line of the name: annotations and modifiers may stand before it. */
        long nameLine(CompilationUnitTree where, Tree tree, Element element, long start) {
            try {
                String name = element.getKind() == ElementKind.CONSTRUCTOR ? element.getEnclosingElement().getSimpleName().toString() : element.getSimpleName().toString();
                String source = where.getSourceFile().getCharContent(true).toString();
                ModifiersTree modifiers = tree instanceof MethodTree method ? method.getModifiers() : tree instanceof ClassTree type ? type.getModifiers() : null;
                long from = modifiers == null ? start : Math.max(start, trees.getSourcePositions().getEndPosition(where, modifiers));
                var found = java.util.regex.Pattern.compile("\\b" + java.util.regex.Pattern.quote(name) + "\\b").matcher(source);
                return where.getLineMap().getLineNumber(found.find((int) from) ? found.start() : start);
            } catch (IOException problem) {
                return 0;
            }
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void none) {
            add(tree, tree.getName(), trees.getElement(getCurrentPath()), false);
            return super.visitIdentifier(tree, none);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void none) {
            add(tree, tree.getIdentifier(), trees.getElement(getCurrentPath()), true);
            return super.visitMemberSelect(tree, none);
        }

        @Override
        public Void visitMemberReference(MemberReferenceTree tree, Void none) {
            add(tree, tree.getName(), trees.getElement(getCurrentPath()), true);
            return super.visitMemberReference(tree, none);
        }
    }
}
