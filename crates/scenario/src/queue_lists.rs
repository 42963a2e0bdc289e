//! Lists of queue disciplines in the texts of keys.

use netburn_medium::queue::{Place, Properties, QueueKind};

/// Names of the disciplines with a property, as in "`fifo`, `pfifo-fast` or `fq-codel`".
fn names(has: impl Fn(&Properties) -> bool, last: &str) -> String {
    let kinds = QueueKind::ALL.iter().filter(|kind| has(kind.properties()));
    let names: Vec<String> = kinds.map(|kind| format!("`{}`", kind.name())).collect();
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{}{last}{end}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Replaces the lists of queue disciplines in the text of a key: `{radio queues}` with their descriptions, and the
/// names of those with a property.
pub(crate) fn expand(text: &str) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let on = |place| move |properties: &Properties| properties.places.contains(&place);
    let radio = QueueKind::all_on(Place::Radio).into_iter().map(QueueKind::properties);
    let described: Vec<String> = radio
        .map(|discipline| format!("`{}`: {}.", discipline.name, discipline.summary))
        .collect();
    text.replace("{radio queues}", &described.join(" "))
        .replace("{wire queues}", &names(on(Place::Wire), " or "))
        .replace("{line queues}", &names(on(Place::Line), " or "))
        .replace(
            "{marking queues}",
            &names(|queue| queue.marks_ecn && queue.places.contains(&Place::Radio), ", "),
        )
}
