//! Embedded files of the page.

use netburn_fleet_controller::embedded::File;

/// All files: the page itself at `/runs/`, its resources below `/runs/page/`.
pub const FILES: &[File] = netburn_fleet_controller::embedded! {
    HTML "/runs/" "dashboard/index.html",
    CSS "/runs/page/style.css" "dashboard/style.css",
    CSS "/runs/page/shared.css" "shared/style.css",
    SVG "/runs/page/icon.svg" "station/icon.svg",
    MODULE "/runs/page/address.js" "dashboard/address.js",
    MODULE "/runs/page/api.js" "dashboard/api.js",
    MODULE "/runs/page/display.js" "dashboard/display.js",
    MODULE "/runs/page/dom.js" "shared/dom.js",
    MODULE "/runs/page/format.js" "shared/format.js",
    MODULE "/runs/page/list.js" "dashboard/list.js",
    MODULE "/runs/page/live.js" "dashboard/live.js",
    MODULE "/runs/page/measure.js" "dashboard/measure.js",
    MODULE "/runs/page/page.js" "dashboard/page.js",
    MODULE "/runs/page/run.js" "dashboard/run.js",
    MODULE "/runs/page/sparkline.js" "dashboard/sparkline.js",
    MODULE "/runs/page/theme.js" "shared/theme.js",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_served_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web/dashboard");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = match name.as_str() {
                "index.html" => "/runs/".to_owned(),
                name => format!("/runs/page/{name}"),
            };
            assert_eq!(FILES.iter().filter(|file| file.path == path).count(), 1, "{path}");
        }
    }
}
