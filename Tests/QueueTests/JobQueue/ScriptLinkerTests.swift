import Redis
import Testing

@testable import JobQueue

@Suite("Texts of scripts") struct ScriptLinkerTests {
    @Test func `names in comments, strings and fields are not those of declarations`() {
        let lua = """
            local a = b.c .. d -- e
            f('g', "h \\" i", j:k())
            """
        #expect(
            ScriptLinker.identifiers(in: lua[...]).map(String.init) == [
                "local", "a", "b", "d", "f", "j", "k",
            ])
    }

    @Test func `a declaration goes up to the next one`() {
        let file = """
            -- A comment.
            local a, b = 1,
              2
            for i = 1, 2 do a = a + i end

            local function c(d)
              return a
            end
            """
        let pieces = ScriptLinker.split(file)
        #expect(pieces.map { $0.names.map(String.init) } == [["a", "b"], ["c"]])
        #expect(pieces[0].text.hasSuffix("a = a + i end\n") && pieces[1].identifiers.contains("a"))
    }

    @Test func `a script gets what it names, and what that names, and no more`() {
        let text = ScriptLinker.shared(for: "return refusal(load('x'), '1')")
        for name in ["refusal", "load", "DEFAULTS", "P", "call"] {
            #expect(text.contains("local function \(name)(") || text.contains("local \(name)"))
        }
        #expect(!text.contains("enter_flow") && !text.contains("TIME"))
    }

    /// Lua takes at most 200 local variables in one function.
    @Test func `constants are replaced by their values`() {
        let text = ScriptLinker.linked(
            "return #edit > LARGE_EDIT and IDLE or DEFAULTS, 'LARGE_EDIT'")
        #expect(
            text.hasSuffix(
                "return #edit > (4096) and ('9000000000000000') or DEFAULTS, 'LARGE_EDIT'"))
        #expect(!text.contains("local LARGE_EDIT") && text.contains("local DEFAULTS = {"))
    }

    @Test func `nothing that scripts share names what comes later`() {
        let pieces = QueueScript.shared.flatMap {
            ScriptLinker.split(String(decoding: $0, as: UTF8.self))
        }
        var known: Set<Substring> = []
        let all = Set(pieces.flatMap(\.names))
        for piece in pieces {
            known.formUnion(piece.names)
            let later = piece.identifiers.intersection(all).subtracting(known)
            #expect(later.isEmpty, "\(piece.names) names \(later)")
        }
    }
}

extension ScriptLinkerTests {
    /// Lua takes at most 200 local variables in one function. `admit` has the most.
    @Test func `no script comes near the number of variables that Lua takes`() {
        for script in [QueueScript.admit, QueueScript.feed, QueueScript.claim, QueueScript.reap] {
            let source = String(decoding: script.source, as: UTF8.self).split(separator: "\n")
            let pieces = ScriptLinker.split(source.dropFirst().joined(separator: "\n"))
            let locals = pieces.reduce(0) { $0 + $1.names.count }
            #expect(locals <= 194, "\(script.name) has \(locals)")
        }
    }

    /// A word that is no state would be compared in vain.
    @Test func `scripts compare and write only states of jobs`() {
        let words = Set(JobState.allCases.map(\.rawValue) + ["popped", "state"])
        let scripts = QueueProgram.allCases.flatMap(\.scripts)
        let texts = QueueScript.shared + scripts.map(\.source)
        for text in texts.map({ String(decoding: $0, as: UTF8.self) }) {
            for match in text.matches(
                of: /\.state [=~]= '(\w+)'|HSET'[^\n]*'state', '(\w+)'/)
            {
                let word = String(match.1 ?? match.2 ?? "")
                #expect(words.contains(word), "\(match.0)")
            }
        }
    }
}
