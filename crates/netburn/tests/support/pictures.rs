//! Pictures of the documentation, and checks that they show what the program shows.
//!
//! `scripts/make-pictures` draws them again: it runs the tests with `NETBURN_WRITE=1`.

use super::browser::Browser;
use std::path::{Path, PathBuf};

/// Path of a picture in the documentation.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/pictures")
        .join(name)
}

/// True if the pictures are drawn again.
pub(crate) fn are_written() -> bool {
    std::env::var_os("NETBURN_WRITE").is_some()
}

/// Checks that a text file among the pictures has this content, or writes it.
#[track_caller]
pub(crate) fn check(name: &str, content: &str) {
    let path = path(name);
    if are_written() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = stored.lines().zip(content.lines());
    let differs = lines.find(|(stored, drawn)| stored != drawn);
    assert!(
        stored == content,
        "docs/pictures/{name} is out of date: scripts/make-pictures\nfirst difference, or the lengths differ: {differs:?}"
    );
}

/// Checks that the words of these elements of the page are those of the picture `NAME.png`, whatever their numbers.
#[track_caller]
pub(crate) fn check_words(name: &str, browser: &Browser, selector: &str) {
    let script = format!(
        "const shown = [...document.querySelectorAll({selector:?})].filter(one => one.checkVisibility());\n\
         return [...new Set(shown.map(one => one.innerText.trim()))].filter(Boolean).join('\\n')"
    );
    let text = browser.run(&script);
    let text = text.as_str().unwrap();
    assert!(text.lines().count() > 1, "{selector} selects almost nothing: {text}");
    let words = text.replace(|c: char| c.is_ascii_digit(), "0");
    check(&format!("words/{name}.txt"), &format!("{words}\n"));
}
