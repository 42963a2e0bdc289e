//! The page of the playground: one file with the page, its style and the simulator, which loads and sends nothing.
//!
//! [`page()`] returns it, and [`POLICY`] is the content security policy of the file, which a server repeats as a header. The
//! crate `playground` is the engine; `scripts/build-pages` stores it as a compressed WebAssembly module.

use data_encoding::BASE64;
use netburn_report::html::{for_script, inlined};
use serde_json::json;
use std::fmt::Write as _;

/// The page runs its own scripts and its own module in workers, and has no connection.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; \
                          style-src 'unsafe-inline'; img-src data:";

/// Maximum length of the page's parts that travel, compressed, in bytes.
#[cfg(test)]
const MAX_MODULE: usize = 1_500_000;

const ENGINE: &[u8] = include_bytes!("../web/playground/engine.wasm.gz");
const BODY: &str = include_str!("../web/playground/index.html");
const WORKER: &str = include_str!("../web/playground/worker.js");
const STYLES: [&str; 2] = [
    include_str!("../web/shared/style.css"),
    include_str!("../web/playground/style.css"),
];
const ICON: &[u8] = include_bytes!("../web/station/icon.svg");

/// The modules, each after those that it imports.
const MODULES: [&str; 12] = [
    include_str!("../web/shared/dom.js"),
    include_str!("../web/shared/theme.js"),
    include_str!("../web/playground/home.js"),
    include_str!("../web/playground/describe.js"),
    include_str!("../web/playground/drawing.js"),
    include_str!("../web/playground/engine.js"),
    include_str!("../web/playground/panel.js"),
    include_str!("../web/playground/results.js"),
    include_str!("../web/playground/share.js"),
    include_str!("../web/playground/stories.js"),
    include_str!("../web/playground/timeline.js"),
    include_str!("../web/playground/page.js"),
];

/// The page, of about 2 MB. It begins with the home of `scenario`, a text in TOML, or with the first home of the page.
#[must_use]
pub fn page(scenario: Option<&str>) -> String {
    let engine = BASE64.encode(ENGINE);
    let mut out = String::with_capacity(engine.len() + (1 << 18));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>netburn playground</title>\n<link rel=\"icon\" href=\"data:image/svg+xml;base64,{}\">\n<style>\n",
        BASE64.encode(ICON)
    );
    for style in STYLES {
        out.push_str(style);
    }
    out.push_str("</style>\n</head>\n<body>\n");
    out.push_str(BODY);
    if let Some(text) = scenario {
        let begin = for_script(&json!({ "scenario": text }));
        let _ = writeln!(out, "<script type=\"application/json\" id=\"begin\">{begin}</script>");
    }
    let _ = write!(
        out,
        "<script type=\"text/plain\" id=\"worker\">\n{WORKER}</script>\n\
         <script type=\"text/plain\" id=\"engine\">{engine}</script>\n<script type=\"module\">\n"
    );
    for module in MODULES {
        out.push_str(&inlined(module));
    }
    out.push_str("</script>\n</body>\n</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_small() {
        assert!(ENGINE.len() <= MAX_MODULE, "{} bytes", ENGINE.len());
    }

    #[test]
    fn every_module_is_part_of_the_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web/playground");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "js") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(MODULES.contains(&text.as_str()) || WORKER == text, "{}", path.display());
            }
        }
    }

    #[test]
    fn a_scenario_cannot_end_its_script() {
        let page = page(Some("title = \"</script><script>alert(1)\""));
        assert!(!page.contains("</script><script>alert"));
        assert!(page.contains(r#"{"scenario":"title = \"\u003c/script>"#));
    }
}
