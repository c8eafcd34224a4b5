import Edits
import FoundationEssentials
import RenderProtocol

extension FuzzTarget {
    /// The number of each request, to which the seeds reply.
    private static let requestNumber = 7

    private static let recipe: Recipe = {
        do throws(Failure) { return try Recipe(filters: []) } catch {
            fatalError("the empty recipe cannot be made: \(error)")
        }
    }()

    private static let textRequest: TextRequest = {
        let own = Mark.Text("a", fonts: ["sha256:"], size: Mark.Length(millionths: 30_000))
        return TextRequest(
            Mark(.text(own)), own, text: "a", in: PixelSize(width: 400, height: 300))
    }()

    /// The requests to a child, by the first line of the input.
    private static let requests: [String: RenderRequest] = {
        let limits = RenderLimits()
        let photo = PhotoRequest(
            recipe: recipe, limits: limits,
            outputs: [.full, .init(longestSide: PhotoRequest.longestSideRange.lowerBound)])
        let sheet = ContactSheetRequest(
            cells: [.init(source: 0)], across: 1,
            cellSide: ContactSheetRequest.cellSideRange.lowerBound, limits: limits)
        let works: [String: RenderRequest.Work] = [
            "inspect": .inspect(photo), "render": .render(photo), "sheet": .contactSheet(sheet),
            "confinement": .confinement, "format": .tryFormat(.heic), "libraries": .libraries,
            "text": .text(textRequest),
        ]
        return works.mapValues { RenderRequest($0, number: requestNumber) }
    }()

    /// Checks that an accepted reply answers its request within all ranges, fits on a line, and survives encoding and decoding.
    func readRenderReply(_ bytes: Data) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard lines.count == 2,
            let request = Self.requests[String(decoding: lines[0], as: UTF8.self)],
            // Most inputs are rejected, which is the expected outcome.
            let reply = try? RenderReply(Data(lines[1]), to: request)
        else { return }
        precondition(reply.number == Self.requestNumber)
        precondition(reply.isAnswer(to: request.work))
        if case .inspected(let inspection) = reply.content {
            precondition(inspection.isBounded)
        }
        // An accepted reply must not grow or change when it is recorded in logs and provenance.
        guard let line = try? LineFormat.encode(reply),
            let again = try? RenderReply(line, to: request)
        else { preconditionFailure("a reply that is believed is refused when it is read again") }
        let second = try? LineFormat.encode(again)  // nil is unequal
        precondition(second == line)
    }
}

extension RenderReply {
    /// Whether the kind of reply fits the kind of work.
    fileprivate func isAnswer(to work: RenderRequest.Work) -> Bool {
        switch (content, work) {
        case (.failed, _), (.progress, .render), (.inspected, .inspect), (.rendered, .render),
            (.rendered, .contactSheet), (.rendered, .tryFormat), (.confined, .confinement),
            (.libraries, .libraries), (.drawn, .text), (.refused, .inspect),
            (.refused, .render):
            true
        case (.progress, _), (.inspected, _), (.rendered, _), (.confined, _), (.libraries, _),
            (.drawn, _), (.refused, _):
            false
        }
    }
}

extension Inspection {
    /// Whether the worker can calculate with its numbers without overflow.
    fileprivate var isBounded: Bool {
        let limits = RenderLimits()
        return [header.storedSize, header.uprightSize, plan.resultSize].allSatisfy {
            $0.width > 0 && $0.height > 0 && $0.pixels <= limits.pixelsMax
        } && plan.estimate.cpuLimit(at: .reference) > .zero
            && plan.estimate.timeLimit(at: .here) > .zero
            && planLines.count <= ReplyBounds.planLinesMax
            && header.notes.count <= ReplyBounds.notesMax
    }
}
