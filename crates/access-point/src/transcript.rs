//! Bytes of the connection as answers of limited size.

/// Largest answer in bytes. A router with 250 stations sends about 200 kB.
pub const MAX_ANSWER: usize = 1 << 20;

/// One answer: its sections in order, each with its name and its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Request that it answers; `hello` for the greeting.
    pub request: String,
    /// Sections.
    pub sections: Vec<(String, String)>,
}

/// The other end sent what is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// An answer is too long.
    #[error("it sent more than 1 MiB for one sample")]
    TooLong,
}

/// Splits the bytes of a session into answers.
///
/// **Call order:** [`push`](Self::push) for the bytes as they arrive, and [`next_answer`](Self::next_answer) until it returns `None`.
#[derive(Debug)]
pub struct Transcript {
    word: String,
    bytes: Vec<u8>,
    /// Length of the bytes that were searched for the end of an answer.
    searched: usize,
}

impl Transcript {
    /// A session whose marked lines begin with `word`.
    #[must_use]
    pub fn new(word: &str) -> Transcript {
        Transcript {
            word: format!("{word} "),
            bytes: Vec::new(),
            searched: 0,
        }
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// If the current answer is too long. The session can't continue.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TranscriptError> {
        if self.bytes.len() + bytes.len() > MAX_ANSWER {
            return Err(TranscriptError::TooLong);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Next whole answer.
    pub fn next_answer(&mut self) -> Option<Answer> {
        while let Some(length) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = &self.bytes[self.searched..self.searched + length];
            let marked = line.strip_prefix(self.word.as_bytes()).map(String::from_utf8_lossy);
            let request = match marked.as_deref() {
                Some("hello") => Some("hello"),
                Some(marked) => marked.strip_prefix("end "),
                None => None,
            };
            let request = request.map(str::to_owned);
            self.searched += length + 1;
            if let Some(request) = request {
                let whole: Vec<u8> = self.bytes.drain(..self.searched).collect();
                self.searched = 0;
                return Some(Answer {
                    request,
                    sections: self.sections(&String::from_utf8_lossy(&whole)),
                });
            }
        }
        None
    }

    /// Sections of an answer. Text before the first marked line, such as a banner, belongs to none.
    fn sections(&self, text: &str) -> Vec<(String, String)> {
        let mut sections: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            match line.strip_prefix(&self.word) {
                Some(name) => sections.push((name.to_owned(), String::new())),
                None => {
                    if let Some((_, text)) = sections.last_mut() {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
            }
        }
        // The last marked line ends the answer.
        sections.pop();
        sections
    }
}

impl Answer {
    /// Texts of the sections of that name, with the rest of their marked lines: `stations wlan0` for `stations`.
    pub fn named<'a>(&'a self, name: &'static str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.sections.iter().filter_map(move |(section, text)| {
            let rest = section.strip_prefix(name)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
            Some((rest, text.as_str()))
        })
    }

    /// Text of the section of that name; empty if there is none.
    #[must_use]
    pub fn text(&self, name: &'static str) -> &str {
        self.named(name).next().map_or("", |(_, text)| text)
    }

    /// Files of the sections `head`, by path: the output of head(1) for several files.
    #[must_use]
    pub fn files(&self) -> Vec<(&str, &str)> {
        self.named("head").flat_map(|(_, text)| files(text)).collect()
    }
}

/// Splits the output of head(1) for several files, which has a line `==> PATH <==` before each of them.
fn files(text: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let title = line.trim_end_matches('\n');
        if let Some(path) = title.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
            if let Some((_, _, end)) = found.last_mut() {
                *end = at;
            }
            found.push((path, at + line.len(), text.len()));
        }
        at += line.len();
    }
    found
        .into_iter()
        .map(|(path, from, to)| (path, &text[from..to]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(bytes: &[u8], step: usize) -> Vec<Answer> {
        let mut transcript = Transcript::new("w1");
        let mut found = Vec::new();
        for part in bytes.chunks(step) {
            transcript.push(part).unwrap();
            found.extend(std::iter::from_fn(|| transcript.next_answer()));
        }
        found
    }

    #[test]
    fn answers_do_not_depend_on_how_the_bytes_arrive() {
        let bytes =
            b"Welcome!\nw1 hello\nw1 stations wlan0\na\nb\nw1 tc\n[]\nw1 end sample\nw1 dev\nx\nw1 end about\nw1 st";
        let whole = answers(bytes, bytes.len());
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0].request, "hello");
        assert_eq!(whole[0].sections, []);
        assert_eq!(whole[1].request, "sample");
        assert_eq!(whole[1].text("tc"), "[]\n");
        assert_eq!(whole[1].named("stations").collect::<Vec<_>>(), [("wlan0", "a\nb\n")]);
        assert_eq!(whole[2].text("dev"), "x\n");
        for step in 1..bytes.len() {
            assert_eq!(answers(bytes, step), whole, "{step}");
        }
    }

    #[test]
    fn a_line_of_another_word_is_text() {
        let found = answers(b"w1 dev\nw2 end about\nw1end about\nw1 end about\n", 7);
        assert_eq!(found[0].text("dev"), "w2 end about\nw1end about\n");
    }

    #[test]
    fn an_endless_answer_is_an_error() {
        let mut transcript = Transcript::new("w");
        let part = vec![b'x'; MAX_ANSWER / 4];
        for _ in 0..4 {
            assert_eq!(transcript.push(&part), Ok(()));
            assert_eq!(transcript.next_answer(), None);
        }
        assert_eq!(transcript.push(b"x"), Err(TranscriptError::TooLong));
    }

    #[test]
    fn head_prints_the_path_before_each_file() {
        let text = "==> /proc/uptime <==\n12.3 4.5\n\n==> /proc/stat <==\ncpu 1\n";
        assert_eq!(
            files(text),
            [("/proc/uptime", "12.3 4.5\n\n"), ("/proc/stat", "cpu 1\n")]
        );
        assert_eq!(files("cat: no file\n"), []);
    }
}
