//! Element declarations: their content models are checked and forgotten.

use super::cursor::Cursor;
use crate::error::DocumentError;

/// Reads a declaration from after `<!ELEMENT`.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
    cursor.need_space()?;
    cursor.name()?;
    cursor.need_space()?;
    if !cursor.eat(b"EMPTY") && !cursor.eat(b"ANY") {
        cursor.need(b"(")?;
        cursor.space();
        if cursor.eat(b"#PCDATA") {
            read_mixed(cursor)?;
        } else {
            read_children(cursor)?;
        }
    }
    cursor.close()
}

/// `(#PCDATA | a | b)*`, from after `#PCDATA`.
fn read_mixed(cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
    let mut is_choice = false;
    loop {
        cursor.space();
        if cursor.eat(b")") {
            break;
        }
        cursor.need(b"|")?;
        cursor.space();
        cursor.name()?;
        is_choice = true;
    }
    if !cursor.eat(b"*") && is_choice {
        return Err(cursor.fault("`*`"));
    }
    Ok(())
}

/// `(a, (b | c)+)?`, from after the first parenthesis, without recursion.
fn read_children(cursor: &mut Cursor<'_>) -> Result<(), DocumentError> {
    // The separator of each open group; 0 before the first one.
    let mut groups = vec![0_u8];
    loop {
        cursor.space();
        if cursor.eat(b"(") {
            groups.push(0);
            continue;
        }
        cursor.name()?;
        skip_modifier(cursor);
        loop {
            cursor.space();
            let Some(group) = groups.last_mut() else {
                return Ok(());
            };
            match cursor.peek() {
                Some(b')') => {
                    groups.pop();
                    cursor.at += 1;
                    skip_modifier(cursor);
                    if groups.is_empty() {
                        return Ok(());
                    }
                }
                Some(byte @ (b'|' | b',')) if *group == 0 || *group == byte => {
                    *group = byte;
                    cursor.at += 1;
                    break;
                }
                _ => return Err(cursor.fault("`)` or the group's separator")),
            }
        }
    }
}

fn skip_modifier(cursor: &mut Cursor<'_>) {
    if matches!(cursor.peek(), Some(b'?' | b'*' | b'+')) {
        cursor.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn is_declaration(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes(), 0, 0, &Limits::NONE);
        read(&mut cursor).is_ok() && cursor.peek().is_none()
    }

    #[test]
    fn content_models_are_checked() {
        for good in [
            " a EMPTY>",
            " a ANY >",
            " a (#PCDATA)>",
            " a ( #PCDATA )*>",
            " a (#PCDATA|b | c)*>",
            " a (b)>",
            " a (b?,(c|d)+,((e)))*>",
        ] {
            assert!(is_declaration(good), "{good}");
        }
        for bad in [
            "a ANY>",
            " a>",
            " a ()>",
            " a (b,c|d)>",
            " a (#PCDATA|b)>",
            " a (b|#PCDATA)>",
            " a (b c)>",
            " a (b,)>",
            " a ((b)>",
            " a (b) *>",
            " a b>",
        ] {
            assert!(!is_declaration(bad), "{bad}");
        }
    }

    #[test]
    fn deep_groups_do_not_recurse() {
        let deep = 200_000;
        assert!(is_declaration(&format!(
            " a {}b{}>",
            "(".repeat(deep),
            ")".repeat(deep)
        )));
    }
}
