//! The files of the site.

use crate::page::{PLAYGROUND, Page, render};
use crate::pages::{PAGES, PICTURES};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Path of the first page.
pub const INDEX: &str = "docs/README.html";

const STYLE: &str = concat!(
    include_str!("../web/shared/style.css"),
    include_str!("../web/handbook/style.css")
);
const ICON: &str = include_str!("../web/station/icon.svg");
const SCRIPT: &str = include_str!("../web/handbook/search.js");

/// Parts of the site in the order of the navigation: the folder of their pages, and their name.
const PARTS: [(&str, &str); 6] = [
    ("docs/tutorials/", "Tutorials"),
    ("docs/how-to/", "How-to guides"),
    ("docs/explanation/", "Explanation"),
    ("docs/reference/", "Reference"),
    ("docs/results/", "Results"),
    ("docs/contributing/", "Contributing"),
];

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Media type.
    pub kind: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
}

/// The rendered pages, by the path of their source.
static RENDERED: LazyLock<BTreeMap<&str, Page>> = LazyLock::new(|| {
    PAGES
        .iter()
        .map(|(path, text)| (*path, render(text, |to| target(path, to))))
        .collect()
});

/// Paths of all files of the site but the playground.
pub fn paths() -> impl Iterator<Item = String> {
    let pages = PAGES.iter().map(|(path, _)| html(path));
    let pictures = PICTURES.iter().map(|(path, _)| (*path).to_owned());
    let others = ["index.html", "style.css", "icon.svg", "search.js", "index.js"].map(str::to_owned);
    pages.chain(pictures).chain(others)
}

/// The file at a path relative to the site, such as `docs/README.html`; `None` if there is none.
#[must_use]
pub fn file(path: &str) -> Option<File> {
    let text = |kind, text: &str| {
        Some(File {
            kind,
            bytes: text.as_bytes().to_vec(),
        })
    };
    const HTML: &str = "text/html; charset=utf-8";
    const SCRIPT_KIND: &str = "text/javascript; charset=utf-8";
    match path {
        "" | "index.html" => text(
            HTML,
            &format!(
                "<!doctype html>\n<meta charset=\"utf-8\">\n<title>netburn</title>\n<meta http-equiv=\"refresh\" content=\"0; url={INDEX}\">\n<a href=\"{INDEX}\">netburn</a>\n"
            ),
        ),
        "style.css" => text("text/css; charset=utf-8", STYLE),
        "icon.svg" => text("image/svg+xml", ICON),
        "search.js" => text(SCRIPT_KIND, SCRIPT),
        "index.js" => text(SCRIPT_KIND, &index()),
        _ => {
            if let Some((_, bytes)) = PICTURES.iter().find(|(own, _)| *own == path) {
                let kind = if path.ends_with(".svg") {
                    "image/svg+xml"
                } else {
                    "image/png"
                };
                return Some(File {
                    kind,
                    bytes: bytes.to_vec(),
                });
            }
            let (source, page) = RENDERED.iter().find(|(source, _)| html(source) == path)?;
            text(HTML, &document(source, page))
        }
    }
}

/// Path of a page: that of its source, with another ending.
fn html(source: &str) -> String {
    format!("{}.html", source.trim_end_matches(".md"))
}

/// Address of a link in a page; `None` if the site does not have its target.
fn target(page: &str, to: &str) -> Option<String> {
    if to.contains("://") || to.starts_with('#') || to.starts_with("mailto:") {
        return Some(to.to_owned());
    }
    if to.starts_with(PLAYGROUND) {
        return Some(format!("{}{to}", up(page)));
    }
    let (path, anchor) = to
        .split_once('#')
        .map_or((to, None), |(path, anchor)| (path, Some(anchor)));
    let resolved = resolved(page, path)?;
    if PICTURES.iter().any(|(own, _)| *own == resolved) {
        return Some(to.to_owned());
    }
    PAGES.iter().find(|(own, _)| *own == resolved)?;
    let path = html(path);
    Some(anchor.map_or(path.clone(), |anchor| format!("{path}#{anchor}")))
}

/// The path of `to`, which is relative to `page`; `None` outside the site.
fn resolved(page: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The way from a page to the folder of the site.
fn up(page: &str) -> String {
    "../".repeat(page.matches('/').count())
}

fn document(source: &str, page: &Page) -> String {
    let up = up(source);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} – netburn</title>\n\
         <link rel=\"icon\" href=\"{up}icon.svg\">\n<link rel=\"stylesheet\" href=\"{up}style.css\">\n<script src=\"{up}search.js\" defer></script>\n</head>\n<body data-up=\"{up}\">\n\
         <a class=\"skip\" href=\"#content\">Skip to the page</a>\n<header><a class=\"brand\" href=\"{up}{INDEX}\">netburn</a>\n\
         <form role=\"search\"><label>Search <input id=\"search\" type=\"search\" maxlength=\"100\" autocomplete=\"off\"></label></form></header>\n\
         <div id=\"found\" role=\"region\" aria-label=\"Search results\" aria-live=\"polite\" hidden></div>\n<div class=\"columns\">\n<nav aria-label=\"Pages\">\n",
        escaped(&page.title)
    );
    for (folder, name) in PARTS {
        let is_here = source.starts_with(folder);
        let _ = writeln!(
            out,
            "<details{}><summary>{name}</summary><ul>",
            if is_here { " open" } else { "" }
        );
        for (path, page) in RENDERED.iter().filter(|(path, _)| path.starts_with(folder)) {
            let here = if *path == source { " aria-current=\"page\"" } else { "" };
            let _ = writeln!(
                out,
                "<li><a href=\"{up}{}\"{here}>{}</a></li>",
                html(path),
                escaped(&page.title)
            );
        }
        out.push_str("</ul></details>\n");
    }
    let _ = write!(
        out,
        "<a href=\"{up}{PLAYGROUND}\">Playground</a>\n</nav>\n<main id=\"content\">\n{}</main>\n</div>\n</body>\n</html>\n",
        page.body
    );
    out
}

/// The sections of all pages, as a script, because a page from a disk may not read other files.
fn index() -> String {
    let sections: Vec<_> = (RENDERED.iter())
        .flat_map(|(path, page)| {
            page.sections.iter().map(move |section| {
                json!([
                    html(path),
                    page.title,
                    section.anchor,
                    section.heading,
                    section.text.trim()
                ])
            })
        })
        .collect();
    format!("netburnSections({});\n", serde_json::Value::Array(sections))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn files(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, into);
            } else {
                into.push(path);
            }
        }
    }

    /// Writes the list with `NETBURN_REGENERATE=1`.
    #[test]
    fn every_page_and_picture_of_the_documentation_is_listed() {
        let mut found = Vec::new();
        files(&repository().join("docs"), &mut found);
        let mut names: Vec<String> = (found.iter())
            .map(|path| path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        let mut text = String::from("//! The sources of the site. A test writes this list.\n\n");
        text += "/// Path and text of each page.\npub(crate) const PAGES: &[(&str, &str)] = &[\n";
        for top in ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
            let _ = writeln!(text, "    (\"{top}\", include_str!(\"../top/{top}\")),");
        }
        for page in names.iter().filter(|name| name.ends_with(".md")) {
            let _ = writeln!(text, "    (\"{page}\", include_str!(\"../{page}\")),");
        }
        text += "];\n\n/// Path and content of each picture.\npub(crate) const PICTURES: &[(&str, &[u8])] = &[\n";
        for picture in names
            .iter()
            .filter(|name| name.ends_with(".svg") || name.ends_with(".png"))
        {
            let _ = writeln!(text, "    (\"{picture}\", include_bytes!(\"../{picture}\")),");
        }
        text += "];\n";
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pages.rs");
        // rustfmt may break long lines.
        let plain = |text: &str| text.split_whitespace().collect::<String>().replace(",)", ")");
        let stored = std::fs::read_to_string(&list).unwrap_or_default();
        if plain(&stored) != plain(&text) {
            if std::env::var_os("NETBURN_REGENERATE").is_some() {
                std::fs::write(list, text).unwrap();
                return;
            }
            panic!("src/pages.rs is out of date: NETBURN_REGENERATE=1 cargo test -p netburn-handbook");
        }
    }

    /// Every address in a page leads to a file of the site, and its anchor to an element there.
    #[test]
    fn every_link_has_its_target() {
        let paths: Vec<String> = paths().collect();
        let text = |path: &str| String::from_utf8(file(path).unwrap().bytes).unwrap();
        let mut count = 0;
        for path in paths
            .iter()
            .filter(|path| path.ends_with(".html") && *path != "index.html")
        {
            let page = text(path);
            for attribute in ["href=\"", "src=\""] {
                for part in page.split(attribute).skip(1) {
                    let to = part.split('"').next().unwrap();
                    if to.contains("://") || to.starts_with("mailto:") {
                        continue;
                    }
                    let (file_part, anchor) = to.split_once('#').unwrap_or((to, ""));
                    let at = if file_part.is_empty() {
                        path.clone()
                    } else {
                        resolved(path, file_part).unwrap()
                    };
                    if at == PLAYGROUND {
                        continue;
                    }
                    assert!(paths.contains(&at), "{path}: {to}");
                    let known = anchor.is_empty() || text(&at).contains(&format!("id=\"{anchor}\""));
                    assert!(known, "{path}: {to}");
                    count += 1;
                }
            }
        }
        assert!(count > 2_000, "{count}");
    }

    #[test]
    fn the_search_has_every_section() {
        let index = String::from_utf8(file("index.js").unwrap().bytes).unwrap();
        assert!(index.contains("\"docs/how-to/sqm.html\""));
        assert!(index.starts_with("netburnSections(["));
        assert_eq!(file("docs/none.html"), None);
        assert_eq!(file("../Cargo.toml"), None);
    }
}
