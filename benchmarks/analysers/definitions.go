// Says what names mean in a folder of Go, by go/types of the standard library: input and output as typescript.js.
//
// Packages of the folder are checked from their sources, test files with them; imports from elsewhere are empty
// packages, and errors are passed over.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

type question struct {
	Folder string
	Files  []string
	Places [][]any
}

type place struct {
	Path string
	Line int
}

var (
	files    = token.NewFileSet()
	asked    question
	modules  = map[string]string{} // name -> folder
	checked  = map[string]*types.Package{}
	meanings = map[place]map[string][][]any{} // place -> name -> definitions
	standard = importer.ForCompiler(files, "source", nil)
)

func folderOf(path string) (string, bool) {
	best, found := "", ""
	for name, folder := range modules {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(best) {
			best, found = name, filepath.Join(folder, strings.TrimPrefix(path, name))
		}
	}
	return found, best != ""
}

type imports struct{}

func (imports) Import(path string) (*types.Package, error) {
	if folder, ours := folderOf(path); ours {
		return check(path, folder, false), nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := standard.Import(path); err == nil {
			return found, nil
		}
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	return empty, nil
}

func check(path, folder string, tests bool) *types.Package {
	if known, ok := checked[path]; ok && !tests {
		return known
	}
	if !tests {
		checked[path] = types.NewPackage(path, filepath.Base(path))
	}
	entries, _ := os.ReadDir(folder)
	byName := map[string][]*ast.File{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		if matches, err := build.Default.MatchFile(folder, name); err != nil || !matches {
			continue
		}
		if file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.SkipObjectResolution); file != nil && err == nil {
			byName[file.Name.Name] = append(byName[file.Name.Name], file)
		}
	}
	var result *types.Package
	for name, parsed := range byName {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: imports{}, Error: func(error) {}, FakeImportC: true, Sizes: types.SizesFor("gc", runtime.GOARCH)}
		found, _ := config.Check(path, files, parsed, info)
		if result == nil || !strings.HasSuffix(name, "_test") {
			result = found
		}
		for ident, object := range info.Uses {
			at := files.Position(ident.Pos())
			inner, _ := filepath.Rel(asked.Folder, at.Filename)
			target := files.Position(object.Pos())
			outside := []any{"", 0}
			if object.Pos().IsValid() && strings.HasPrefix(target.Filename, asked.Folder+"/") {
				where, _ := filepath.Rel(asked.Folder, target.Filename)
				outside = []any{where, target.Line}
			}
			key := place{inner, at.Line}
			if meanings[key] == nil {
				meanings[key] = map[string][][]any{}
			}
			meanings[key][ident.Name] = append(meanings[key][ident.Name], outside)
		}
	}
	if result == nil {
		result = types.NewPackage(path, filepath.Base(path))
	}
	if !tests {
		checked[path] = result
	}
	return result
}

func main() {
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	_ = filepath.Walk(asked.Folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Name() == "go.mod" {
			text, _ := os.ReadFile(path)
			for _, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(line, "module ") {
					modules[strings.Trim(strings.Fields(line)[1], `"`)] = filepath.Dir(path)
				}
			}
		}
		return nil
	})
	folders := map[string]bool{}
	for _, file := range asked.Files {
		folders[filepath.Dir(filepath.Join(asked.Folder, file))] = true
	}
	for folder := range folders {
		for name, home := range modules {
			if folder == home || strings.HasPrefix(folder, home+"/") {
				path := name + strings.TrimPrefix(folder, home)
				if found, ours := folderOf(path); ours && found == folder {
					check(path, folder, true)
				}
			}
		}
	}
	texts := map[string][]string{}
	meant := make([]any, 0, len(asked.Places))
	for _, each := range asked.Places {
		path, line, column := each[0].(string), int(each[1].(float64)), int(each[2].(float64))
		if texts[path] == nil {
			text, _ := os.ReadFile(filepath.Join(asked.Folder, path))
			texts[path] = strings.Split(string(text), "\n")
		}
		rest := []rune(texts[path][line-1])[column:]
		end := 0
		for end < len(rest) && (rest[end] == '_' || rest[end] >= '0' && rest[end] <= '9' || rest[end] >= 'A' && rest[end] <= 'Z' || rest[end] >= 'a' && rest[end] <= 'z' || rest[end] > 127) {
			end++
		}
		if found := meanings[place{path, line}][string(rest[:end])]; found != nil {
			meant = append(meant, found)
		} else {
			meant = append(meant, nil)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"version": "go/types of " + runtime.Version(), "meant": meant})
}
