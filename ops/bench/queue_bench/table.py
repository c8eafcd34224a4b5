"""Prints one table: a row for each system, and what ours is against it."""


SENTENCE = 15  # longer cells than this are words, which begin at the left


def show(title, columns, rows, note=""):
    """Prints `rows`: a name, then one value for each column, a number or a sentence.

    columns   (heading, decimals, better): `better` is "more", "less" or None; the first row is ours.
    """
    print(f"\n{title}")
    heads = [""]
    for heading, _, better in columns:
        heads += [heading] + (["ours is"] if better else [])
    names = list(rows)
    ours = rows.get("Minilab")
    lines = [heads]
    for name in names:
        line = [name]
        for index, (_, decimals, better) in enumerate(columns):
            value = rows[name][index]
            line.append(f"{value:,.{decimals}f}" if isinstance(value, (int, float)) else str(value))
            if better:
                line.append(ratio(ours and ours[index], value, better) if name != "Minilab" else "")
        lines.append(line)
    sentences = [any(len(line[column]) > SENTENCE for line in lines[1:]) for column in range(len(heads))]
    sentences[0] = True
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        print("  ".join(map(aligned, line, widths, sentences)).rstrip())
    if note:
        print(note)


def aligned(cell, width, is_sentence):
    return cell.ljust(width) if is_sentence else cell.rjust(width)


def ratio(ours, peer, better):
    if not isinstance(ours, (int, float)) or not isinstance(peer, (int, float)) or not ours or not peer:
        return ""
    return f"{ours / peer:.1f} ×" if better == "more" else f"{ours / peer:.2f} ×"
