/// Assembles a script from its own text and the declarations of `Scripts/Shared` that it needs.
///
/// Redis executes the whole text of a script at each call and creates each function in it anew. That costs 0.4 µs per function: a
/// third of a short script's time when every script contained all functions. So a script contains the declarations that its
/// text names, those that these name, and so on, in the order of the files.
///
/// Constants are replaced by their values: Lua takes at most 200 local variables in one function, and the longest script has more
/// declarations than that.
enum ScriptLinker {
    /// One declaration at the top level of a file, up to the next declaration.
    struct Piece: Sendable {
        let names: [Substring]
        let text: String
        let identifiers: Set<Substring>
    }

    /// Returns a script's text with the declarations that it needs before it.
    static func linked(_ body: String) -> String { inlined(shared(for: body) + body) }

    /// Returns the shared text that precedes a script's own text.
    static func shared(for body: String) -> String {
        var isNeeded = [Bool](repeating: false, count: pieces.count)
        var open = [Set(identifiers(in: body[...]))]
        while let identifiers = open.popLast() {
            for (index, piece) in pieces.enumerated()
            where !isNeeded[index] && piece.names.contains(where: identifiers.contains) {
                isNeeded[index] = true
                open.append(piece.identifiers)
            }
        }
        return zip(pieces, isNeeded).reduce(into: "") { if $1.1 { $0 += $1.0.text } }
    }

    private static let declarations: [Piece] = QueueScript.shared.flatMap { file in
        split(String(decoding: file, as: UTF8.self))
    }
    private static let pieces = declarations.filter { values(of: $0).isEmpty }
    /// The values of constants, as Lua.
    private static let constants = declarations.reduce(into: [:]) {
        $0.merge(values(of: $1)) { first, _ in first }
    }

    /// Returns the values of a declaration of constants; none for another one. Constants have names of capitals, and are numbers,
    /// products of numbers, or strings without commas.
    static func values(of piece: Piece) -> [Substring: String] {
        let line = piece.text.split(separator: "\n")
        guard line.count == 1,
            let parts = line[0].wholeMatch(of: /local ([A-Z0-9_, ]+) = ([^-]*?)\s*(?:--.*)?/)
        else { return [:] }
        let values = parts.2.split(separator: ",").map { $0.trimmingPrefix(while: \.isWhitespace) }
        guard values.count == piece.names.count,
            values.allSatisfy({ $0.wholeMatch(of: /\d+( \* \d+)*|'[^'\\]*'/) != nil })
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(piece.names, values.map { "(\($0))" }))
    }

    /// Returns a text with the values of constants instead of their names.
    private static func inlined(_ text: String) -> String {
        var inlined = ""
        var end = text.startIndex
        for name in identifiers(in: text[...]) {
            guard let value = constants[name] else { continue }
            inlined += text[end..<name.startIndex] + value
            end = name.endIndex
        }
        return inlined + text[end...]
    }

    /// Splits a file into declarations. Each begins with `local` in the first column. Comments between them are left out.
    static func split(_ file: String) -> [Piece] {
        var pieces: [[Substring]] = []
        for line in file.split(separator: "\n") where !line.hasPrefix("--") {
            if line.hasPrefix("local ") {
                pieces.append([line])
            } else {
                precondition(!pieces.isEmpty, "a shared file begins with local, not with \(line)")
                pieces[pieces.count - 1].append(line)
            }
        }
        return pieces.map { lines in
            let text = lines.joined(separator: "\n") + "\n"
            let isFunction = lines[0].hasPrefix("local function ")
            let declared = lines[0].prefix { $0 != (isFunction ? "(" : "=") }
            return Piece(
                names: identifiers(in: declared).filter { !["local", "function"].contains($0) }
                    .map { Substring(String($0)) },
                text: text, identifiers: Set(identifiers(in: text[...])))
        }
    }

    /// Returns the names in a piece of Lua that may refer to declarations: names outside comments and strings that do not
    /// follow a dot.
    static func identifiers(in lua: Substring) -> [Substring] {
        var identifiers: [Substring] = []
        var rest = lua
        var last: Character = " "
        while let first = rest.first {
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if first == "'" || first == "\"" {
                rest = skipString(rest, first)
                last = " "
            } else if first.isLetter || first == "_" {
                let identifier = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                if last != "." { identifiers.append(identifier) }
                rest = rest.dropFirst(identifier.count)
                last = " "
            } else {
                // `..` concatenates strings; a single dot precedes a field.
                last = first == "." && last == "." ? " " : first
                rest = rest.dropFirst()
            }
        }
        return identifiers
    }

    private static func skipString(_ text: Substring, _ quote: Character) -> Substring {
        var rest = text.dropFirst()
        while let next = rest.first, next != quote {
            rest = rest.dropFirst(next == "\\" ? 2 : 1)
        }
        return rest.dropFirst()
    }
}
