//! The station page, embedded: the files with which a browser becomes a station.
//!
//! A server answers `GET` of each path in [`FILES`] with its bytes, its media type, and [`HEADERS`].

use crate::embedded::File;

/// Additional headers of all responses. They allow only the page's own modules, of which one is WebAssembly, forbid embedding in other
/// pages, and keep the token out of the `Referer`. Servers to measure against may be anywhere.
pub const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    // A new version of netburn has a new page at the same paths.
    ("cache-control", "no-cache"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// All files: the page at `/`, the others below `/station/`.
pub const FILES: &[File] = crate::embedded! {
    HTML "/" "station/index.html",
    CSS "/station/style.css" "station/style.css",
    SVG "/station/icon.svg" "station/icon.svg",
    MODULE "/station/page.js" "station/page.js",
    WASM "/station/page.wasm" "station/page.wasm",
    MODULE "/station/station.js" "station/station.js",
    MODULE "/station/transfer.js" "station/transfer.js",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::find;

    #[test]
    fn every_file_there_is_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web/station");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = match name.as_str() {
                "index.html" => "/".to_owned(),
                // A hash for scripts/build-pages.
                "page.wasm.sources" => continue,
                name => format!("/station/{name}"),
            };
            assert!(find(FILES, &path).is_some(), "{path}");
        }
    }

    #[test]
    fn each_path_is_one_file() {
        for (index, file) in FILES.iter().enumerate() {
            assert_eq!(find(FILES, file.path), Some(file));
            assert!(
                FILES[..index].iter().all(|other| other.path != file.path),
                "{}",
                file.path
            );
            assert!(!file.bytes.is_empty(), "{}", file.path);
        }
        for path in ["", "/station/", "/station/../page.js", "/index.html", "//"] {
            assert_eq!(find(FILES, path), None, "{path}");
        }
    }
}
