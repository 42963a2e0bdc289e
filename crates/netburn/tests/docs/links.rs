//! Links between the pages.

use crate::page::{Page, pages, root};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Links of a page, with their lines: targets of `[…](…)`, of images, and of `src` and `href`.
fn links(page: &Page) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in page.prose() {
        let line = without_code(line);
        for (begin, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for part in line.split(begin).skip(1) {
                let target = part.split(end).next().unwrap_or_default();
                let target = target.split_whitespace().next().unwrap_or_default();
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// Replaces the text of code spans by spaces.
fn without_code(line: &str) -> String {
    let mut inside = false;
    let plain = line.chars().map(|c| match c {
        '`' => {
            inside = !inside;
            ' '
        }
        _ if inside => ' ',
        c => c,
    });
    plain.collect()
}

/// Anchors of the headings, as GitHub makes them, and of `<a id="…">`.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in page.prose() {
        for part in line.split("id=\"").skip(1) {
            anchors.extend(part.split('"').next().map(str::to_owned));
        }
        let heading = line.trim_start_matches('#');
        if line.starts_with('#') && heading.starts_with(' ') {
            let name = anchor(heading.trim());
            let numbered = (1..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone())
                .chain(numbered)
                .find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    // The text of a link, without its target.
    let mut text = String::new();
    for (index, part) in heading.split("](").enumerate() {
        let part = if index == 0 {
            part
        } else {
            part.split_once(')').map_or("", |(_, rest)| rest)
        };
        text.push_str(part);
    }
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Resolves `..` and `.`. `None` outside the repository.
fn resolve(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Links of a page that lead nowhere, each as a line.
fn broken(page: &Page, all: &[Page]) -> Vec<String> {
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let mut broken = Vec::new();
    for (line, link) in links(page) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (target, fragment) = link.split_once('#').unwrap_or((&link, ""));
        let path = match target {
            "" => Some(page.path.clone()),
            target => resolve(folder, target),
        };
        let known = path
            .as_ref()
            .and_then(|path| all.iter().find(|page| page.path == *path));
        let exists = path.as_ref().is_some_and(|path| root().join(path).exists());
        let reached = match known {
            Some(page) => fragment.is_empty() || anchors(page).contains(fragment),
            None => exists && fragment.is_empty(),
        };
        if !reached {
            broken.push(format!("{}:{line}: {link}", page.path.display()));
        }
    }
    broken
}

#[test]
fn every_link_resolves() {
    let all = pages();
    assert!(all.len() > 20, "{}", all.len());
    let broken: Vec<String> = all.iter().flat_map(|page| broken(page, &all)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_index_links_every_page() {
    let all = pages();
    let index = all
        .iter()
        .find(|page| page.path == Path::new("docs/README.md"))
        .unwrap();
    let linked: BTreeSet<PathBuf> = links(index)
        .iter()
        .filter_map(|(_, link)| resolve(Path::new("docs"), link.split('#').next()?))
        .collect();
    let missing: Vec<&PathBuf> = all
        .iter()
        .map(|page| &page.path)
        .filter(|path| path.starts_with("docs") && **path != index.path && !linked.contains(*path))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not link {missing:?}");
}

#[test]
fn a_link_to_nowhere_is_found() {
    let other = Page::new(
        "docs/b.md",
        "# One `two`, [three](x.md)!\n\n## Again\n\n## Again\n<a id=\"own\"></a>\n",
    );
    let page = Page::new(
        "docs/a.md",
        "[ok](b.md) [ok](b.md#one-two-three) [ok](b.md#again-1) [ok](b.md#own) [ok](#top)\n# Top\n\
         [ok](../Cargo.toml) [ok](https://example.org/x) `[code](nowhere.md)` <img src=\"pictures/runs.png\">\n\
         ```\n[code](nowhere.md)\n```\n\
         [no](c.md) [no](b.md#two) ![no](pictures/none.png) [no](../../b.md) [no](/etc/passwd)\n\
         [two\nlines](nowhere.md) <a href=\"none\">",
    );
    let found = broken(&page, &[page_copy(&page), other]);
    assert_eq!(
        found,
        [
            "docs/a.md:7: c.md",
            "docs/a.md:7: b.md#two",
            "docs/a.md:7: pictures/none.png",
            "docs/a.md:7: ../../b.md",
            "docs/a.md:7: /etc/passwd",
            "docs/a.md:9: nowhere.md",
            "docs/a.md:9: none",
        ]
    );
}

fn page_copy(page: &Page) -> Page {
    Page {
        path: page.path.clone(),
        text: page.text.clone(),
    }
}
