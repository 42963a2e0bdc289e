//! A page: Markdown as HTML, its title, and its sections for the search.

use crate::anchor::Anchors;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};
use serde::Serialize;

/// Path of the playground in the site, which its owner provides.
pub const PLAYGROUND: &str = "playground.html";

/// A page in HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) sections: Vec<Section>,
}

/// The text below a heading, as the search finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Section {
    /// Anchor; empty before the first heading.
    pub(crate) anchor: String,
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// Renders a page. `target` returns the address of a link, or `None` for a target that the site does not have, whose link
/// becomes text.
pub(crate) fn render(markdown: &str, target: impl Fn(&str) -> Option<String>) -> Page {
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut writer = Writer {
        target: &target,
        events: Vec::new(),
        anchors: Anchors::default(),
        heading: None,
        sections: vec![Section {
            anchor: String::new(),
            heading: String::new(),
            text: String::new(),
        }],
        title: String::new(),
        open_links: Vec::new(),
        figure: None,
        has_figure: false,
    };
    for event in parser {
        writer.take(event);
    }
    let mut body = String::with_capacity(markdown.len() * 2);
    push_html(&mut body, writer.events.into_iter());
    let is_filled = |section: &Section| !section.heading.is_empty() || !section.text.trim().is_empty();
    Page {
        title: writer.title,
        body,
        sections: writer.sections.into_iter().filter(is_filled).collect(),
    }
}

struct Writer<'a, 'b> {
    target: &'b dyn Fn(&str) -> Option<String>,
    events: Vec<Event<'a>>,
    anchors: Anchors,
    /// A heading in progress: its level, its text, and the index of its start.
    heading: Option<(HeadingLevel, String, usize)>,
    sections: Vec<Section>,
    title: String,
    /// For each open link, whether the site has its target.
    open_links: Vec<bool>,
    /// Address of the playground that the paragraph in progress names.
    figure: Option<String>,
    /// True if the page has a playground already. Each takes memory, so one is enough.
    has_figure: bool,
}

impl<'a> Writer<'a, '_> {
    fn take(&mut self, event: Event<'a>) {
        match &event {
            Event::Text(text) | Event::Code(text) => self.text(text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell | TagEnd::Item | TagEnd::Paragraph) => {
                self.text(" ");
            }
            _ => {}
        }
        let event = match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some((level, String::new(), self.events.len()));
                // Replaced when the text is known.
                Event::Html(CowStr::Borrowed(""))
            }
            Event::End(TagEnd::Heading(level)) => {
                self.end_of_heading();
                Event::Html(format!("</{level}>\n").into())
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let known = (self.target)(&dest_url);
                self.open_links.push(known.is_some());
                match known {
                    Some(address) => Event::Start(Tag::Link {
                        link_type,
                        dest_url: address.into(),
                        title,
                        id,
                    }),
                    None => return,
                }
            }
            Event::End(TagEnd::Link) => {
                if self.open_links.pop() != Some(true) {
                    return;
                }
                event
            }
            // Long lines and wide tables scroll, with the keyboard too.
            Event::Start(Tag::CodeBlock(_)) => Event::Html("<pre tabindex=\"0\"><code>".into()),
            Event::End(TagEnd::CodeBlock) => Event::Html("</code></pre>\n".into()),
            Event::Start(Tag::Table(_)) => {
                self.events
                    .push(Event::Html("<div class=\"wide\" tabindex=\"0\">".into()));
                event
            }
            Event::End(TagEnd::Table) => {
                self.events.push(event);
                Event::Html("</div>\n".into())
            }
            Event::Code(text) if text.starts_with(PLAYGROUND) => match (self.target)(&text) {
                Some(address) => {
                    let link = Event::Html(format!("<a href=\"{address}\"><code>{text}</code></a>").into());
                    self.figure = Some(address);
                    link
                }
                None => Event::Code(text),
            },
            Event::End(TagEnd::Paragraph) => {
                self.events.push(event);
                match self.figure.take().filter(|_| !self.has_figure) {
                    Some(address) => {
                        self.has_figure = true;
                        Event::Html(figure(&address).into())
                    }
                    None => return,
                }
            }
            other => other,
        };
        self.events.push(event);
    }

    fn text(&mut self, text: &str) {
        let place = match &mut self.heading {
            Some((_, heading, _)) => heading,
            None => &mut self.sections.last_mut().expect("there is a first section").text,
        };
        place.push_str(text);
    }

    fn end_of_heading(&mut self) {
        let Some((level, text, start)) = self.heading.take() else {
            return;
        };
        let anchor = self.anchors.next(&text);
        self.events[start] = Event::Html(format!("<{level} id=\"{anchor}\">").into());
        if level == HeadingLevel::H1 && self.title.is_empty() {
            self.title = text.trim().to_owned();
        }
        self.sections.push(Section {
            anchor,
            heading: text.trim().to_owned(),
            text: String::new(),
        });
    }
}

/// The playground inside a page, closed at first. A browser loads a lazy frame only when it is visible.
fn figure(address: &str) -> String {
    format!(
        "<details class=\"figure\"><summary>Try it on this page</summary>\
         <iframe src=\"{address}\" loading=\"lazy\" title=\"The playground\"></iframe></details>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_have_anchors_and_links_lead_to_pages() {
        let page = render(
            "# A *page*\n\nText with `code`.\n\n## Next, then\n\n[one](a.md#x) [two](gone.rs) `playground.html#story=boost` and `x < y`\n",
            |target| (!target.starts_with("gone")).then(|| target.replace(".md", ".html")),
        );
        assert_eq!(page.title, "A page");
        assert_eq!(
            page.body,
            "<h1 id=\"a-page\">A <em>page</em></h1>\n<p>Text with <code>code</code>.</p>\n<h2 id=\"next-then\">Next, then</h2>\n\
             <p><a href=\"a.html#x\">one</a> two <a href=\"playground.html#story=boost\"><code>playground.html#story=boost</code></a> \
             and <code>x &lt; y</code></p>\n<details class=\"figure\"><summary>Try it on this page</summary>\
             <iframe src=\"playground.html#story=boost\" loading=\"lazy\" title=\"The playground\"></iframe></details>\n"
        );
        let sections: Vec<(&str, &str)> = (page.sections.iter())
            .map(|section| (section.anchor.as_str(), section.text.trim()))
            .collect();
        assert_eq!(
            sections,
            [
                ("a-page", "Text with code."),
                ("next-then", "one two playground.html#story=boost and x < y")
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_page(text in "(#|\\[|\\]|\\(|\\)|`|\\||-|\\n|[a-z ]){0,120}") {
            let page = render(&text, |target| Some(target.to_owned()));
            prop_assert!(page.sections.iter().all(|section| section.heading.len() <= text.len()));
        }
    }
}
