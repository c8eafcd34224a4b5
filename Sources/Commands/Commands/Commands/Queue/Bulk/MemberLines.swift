import Edits
import Operations

/// A reader of the jobs of a file: each pass over the file finds the same jobs and refuses the same lines.
struct MemberLines {
    /// A line that is not empty.
    enum Line {
        case member(MemberParser.Parsed)
        case refused(line: Int, Failure)
    }

    private let lines: LineReader
    private let haveEdit: Bool
    private var parser = MemberParser()

    /// - Parameter haveEdit: whether a line without an edit has that of the command.
    init(_ lines: LineReader, haveEdit: Bool) { (self.lines, self.haveEdit) = (lines, haveEdit) }

    /// Returns the next line; nil at the end of the file.
    mutating func next() throws -> Line? {
        while let line = try lines.next() {
            do throws(Failure) {
                guard let member = try parser.parse(line.bytes, line: line.number) else { continue }
                guard member.edit != nil || haveEdit else {
                    throw Failure(
                        .missingField,
                        "job.edit is missing; give it in the line, or for all lines with --filter or --edit."
                    )
                }
                return .member(member)
            } catch {
                return .refused(line: line.number, error)
            }
        }
        return nil
    }

    /// Returns the next job, past refused lines; nil at the end of the file.
    mutating func nextMember() throws -> MemberParser.Parsed? {
        while let line = try next() {
            if case .member(let member) = line { return member }
        }
        return nil
    }
}
