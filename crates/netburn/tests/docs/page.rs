//! Markdown pages, their fenced blocks, and their generated parts.

use std::path::{Path, PathBuf};

/// A Markdown page of the repository.
#[derive(Debug)]
pub(crate) struct Page {
    /// Path below the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Info string after the fence, such as `console`.
    pub(crate) language: String,
    /// Number of the fence's line, from 1.
    pub(crate) line: usize,
    /// Lines within, without the fence's indentation.
    pub(crate) lines: Vec<String>,
}

/// Root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Markdown pages of the root and of `docs`, sorted by path.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            paths.push(path);
        }
    }
    files_below(&root().join("docs"), &mut paths);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort_unstable();
    let page = |path: PathBuf| Page {
        text: std::fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root()).unwrap().to_owned(),
    };
    paths.into_iter().map(page).collect()
}

fn files_below(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

impl Page {
    /// A page that exists in a test only.
    pub(crate) fn new(path: &str, text: &str) -> Page {
        Page {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    /// Fenced blocks, in order.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(Block, usize)> = None;
        for (number, line) in self.text.lines().enumerate() {
            let inner = line.trim_start();
            let indent = line.len() - inner.len();
            match (&mut open, inner.strip_prefix("```")) {
                (None, Some(language)) => {
                    let block = Block {
                        language: language.trim().to_owned(),
                        line: number + 1,
                        lines: Vec::new(),
                    };
                    open = Some((block, indent));
                }
                (Some(_), Some("")) => blocks.extend(open.take().map(|(block, _)| block)),
                (Some((block, indent)), _) => {
                    let removable = line.len() - line.trim_start().len();
                    block.lines.push(line[removable.min(*indent)..].trim_end().to_owned());
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block without end", self.path.display());
        blocks
    }

    /// Lines outside fenced blocks, with their numbers from 1.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut inside = false;
        let mut prose = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                inside = !inside;
            } else if !inside {
                prose.push((number + 1, line));
            }
        }
        prose
    }
}

/// Checks a page, or writes it with NETBURN_REGENERATE=1. `wanted` computes its text from the present one.
#[track_caller]
pub(crate) fn check_generated(path: &str, wanted: impl Fn(&str) -> String) {
    let file = root().join("docs/reference").join(path);
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let wanted = wanted(&found);
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(&file, &wanted).unwrap();
        return;
    }
    let differs = found
        .lines()
        .zip(wanted.lines())
        .find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "docs/reference/{path} is out of date: NETBURN_REGENERATE=1 cargo test -p netburn --test docs\n{differs:#?}"
    );
}

/// Replaces the text between `<!-- generated: NAME -->` and `<!-- end -->`.
#[track_caller]
pub(crate) fn replace(page: &str, name: &str, body: &str) -> String {
    let (begin, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no marker {begin}"));
    let (_, after) = rest.split_once(end).expect("an end marker");
    format!("{before}{begin}\n{}\n\n{end}{after}", body.trim_end())
}

#[test]
fn blocks_have_a_language_a_line_and_their_text() {
    let page = Page::new(
        "a.md",
        "text\n```sh\nls\n```\n\n- item\n\n  ```console\n  $ ls\n    a\n  ```\n",
    );
    let block = |language: &str, line, lines: &[&str]| Block {
        language: language.to_owned(),
        line,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        page.blocks(),
        [block("sh", 2, &["ls"]), block("console", 8, &["$ ls", "  a"])]
    );
    assert_eq!(page.prose(), [(1, "text"), (5, ""), (6, "- item"), (7, "")]);
}

#[test]
fn only_the_text_between_markers_is_replaced() {
    let page = "a\n<!-- generated: x -->\n\nold\n\n<!-- end -->\nb\n";
    assert_eq!(
        replace(page, "x", "new\n"),
        "a\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nb\n"
    );
}
