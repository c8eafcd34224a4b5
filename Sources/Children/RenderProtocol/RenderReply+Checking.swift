import Edits
public import FoundationEssentials

extension RenderReply {
    /// Decodes a line and checks all its values against their ranges.
    ///
    /// - Parameter request: The request that the reply belongs to.
    /// - Throws: ``BrokenReply``.
    public init(_ line: Data, to request: RenderRequest) throws(BrokenReply) {
        do {
            self = try LineFormat.decode(RenderReply.self, from: line)
        } catch {
            // The decoder's error is left out, because it quotes the line.
            throw BrokenReply("a line is no reply of version \(RenderRequest.version)")
        }
        guard number == request.number else {
            throw BrokenReply("a reply is to another request than the one that was sent")
        }
        try check(request)
    }

    private func check(_ request: RenderRequest) throws(BrokenReply) {
        switch (content, request.work) {
        case (.progress(.written(let written)), .render(let photo)):
            try Self.check(written, 0...max(0, photo.outputs.count - 1), "the output of a progress")
        case (.progress(.frames(let done)), .render(let photo)):
            try Self.check(
                done, 1...max(1, photo.limits.movieFramesMax), "the frames that are done")
        case (.progress(.droppedMotionVideo(let reason)), .render):
            try Self.check([reason], "reasons")
        case (.inspected(let inspection), .inspect(let photo)):
            try inspection.check(photo)
        case (.rendered, .render), (.rendered, .contactSheet),
            (.rendered, .tryFormat):
            return
        case (.confined(let confinement), .confinement): try confinement.check()
        case (.libraries(let libraries), .libraries):
            try Self.check(
                libraries.map(\.name) + libraries.map(\.version), "names and versions of libraries",
                most: 2 * ReplyBounds.librariesMax)
        case (.failed(let failure), _), (.refused(let failure), .inspect),
            (.refused(let failure), .render):
            // The message quotes a decoder's error about the file, whose contents are untrusted.
            try Self.check(
                failure.message.count, 0...Failure.messageLengthMax, "the length of a sentence")
            try Self.check(failure.signal == nil, "a failure names a signal")
            try Self.check(
                failure.code.isFoundByRender,
                "a failure is of a code that no render has: \(failure.code.rawValue)")
        case (.progress, _), (.inspected, _), (.rendered, _), (.confined, _),
            (.libraries, _),
            (.refused, _):
            throw BrokenReply("a reply answers another question than it was asked")
        }
    }

    static func check<Value: Comparable>(
        _ value: Value, _ range: ClosedRange<Value>, _ what: String
    ) throws(BrokenReply) {
        guard range.contains(value) else {
            throw BrokenReply(
                "\(what) is \(value); expected is \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static func check(_ isTrue: Bool, _ what: String) throws(BrokenReply) {
        guard isTrue else { throw BrokenReply(what) }
    }

    static func check(
        _ texts: [String], _ what: String, most: Int = ReplyBounds.notesMax
    ) throws(BrokenReply) {
        try check(texts.count, 0...most, "the number of \(what)")
        for text in texts {
            try check(text.count, 0...ReplyBounds.textMax, "the length of one of the \(what)")
            try check(!text.hasControls, "one of the \(what) has control characters")
        }
    }

    static func check(_ size: PixelSize, _ what: String) throws(BrokenReply) {
        try check(size.width, ReplyBounds.sides, "the width of \(what)")
        try check(size.height, ReplyBounds.sides, "the height of \(what)")
    }
}

extension Inspection {
    fileprivate func check(_ photo: PhotoRequest) throws(BrokenReply) {
        try header.check(photo.limits)
        try plan.check(photo.limits)
        try RenderReply.check(memoryBytes, ReplyBounds.bytes, "the memory of a render")
        try RenderReply.check(planLines, "lines of a plan", most: ReplyBounds.planLinesMax)
        try RenderReply.check(!recipe.isAutomatic, "a recipe has automatic filters still")
        try checkRecipe(photo.recipe)
    }

    /// Checks the recipe, which becomes the photo's adjustment data. Except for automatic filters, it follows from the request.
    private func checkRecipe(_ asked: Recipe) throws(BrokenReply) {
        let expected: Recipe
        do throws(Failure) {
            expected = try asked.scaled(to: header.uprightSize)
        } catch {
            throw BrokenReply("a photo has a size to which its recipe cannot be scaled")
        }
        let isSame =
            asked.isAutomatic
            ? recipe.output == expected.output && recipe.referenceSize == nil
            : recipe.json.canonical == expected.json.canonical
        try RenderReply.check(isSame, "a recipe is another one than was asked for")
    }
}

extension PhotoHeader {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(storedSize, "a photo")
        try RenderReply.check(storedSize.pixels, 1...max(1, limits.pixelsMax), "a photo's pixels")
        try RenderReply.check(orientation, 1...8, "an orientation")
        try RenderReply.check(bands, ReplyBounds.bands, "the number of channels")
        try RenderReply.check(bitsPerSample, ReplyBounds.bits, "the bits of a sample")
        try RenderReply.check(rowsAtOnce, ReplyBounds.sides, "the rows that are decoded together")
        try RenderReply.check([contentIdentifier].compactMap(\.self), "content identifiers")
        try movie?.check(limits)
        try RenderReply.check(notes, "notes")
    }
}

extension MovieFacts {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(container.isMovie, "a movie is a \(container.rawValue)")
        try RenderReply.check([codec], "codecs")
        try RenderReply.check(frames, 1...max(1, limits.movieFramesMax), "the frames of a movie")
        try RenderReply.check(
            seconds, 0...Double(max(1, limits.movieSecondsMax) + 1), "the seconds of a movie")
        try RenderReply.check(segments, 1...frames, "the segments of a movie")
    }
}

extension MoviePlan {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(frames, 1...max(1, limits.movieFramesMax), "the frames of a movie")
        try RenderReply.check(
            segments, 1...ReplyBounds.segmentsMax, "the segments of a movie")
        try segment.check()
    }
}

extension RenderEstimate {
    fileprivate func check() throws(BrokenReply) {
        try RenderReply.check(memoryBytes, ReplyBounds.bytes, "the memory of a render")
        try RenderReply.check(spoolBytes, ReplyBounds.bytes, "the spool of a render")
        try RenderReply.check(cpuSeconds, ReplyBounds.seconds, "the processor time of a render")
    }
}

extension RenderPlan {
    fileprivate func check(_ limits: RenderLimits) throws(BrokenReply) {
        try RenderReply.check(resultSize, "a result")
        try RenderReply.check(
            resultSize.pixels, 1...max(1, limits.pixelsMax), "the pixels of a result")
        try RenderReply.check(orientation, 1...8, "an orientation")
        try RenderReply.check(passes.count, 0...ReplyBounds.passesMax, "the number of passes")
        for pass in passes {
            guard case .neighbourhood(_, let columns, let rows) = pass else { continue }
            try RenderReply.check(columns, ReplyBounds.reach, "the reach of a filter")
            try RenderReply.check(rows, ReplyBounds.reach, "the reach of a filter")
        }
        try RenderReply.check(output.quality, 0...1, "a quality")
        try RenderReply.check(threads, ReplyBounds.threads, "the number of threads")
        try estimate.check()
        try movie?.check(limits)
        try RenderReply.check(
            [gainMap?.reason, motionVideo?.reason].compactMap(\.self), "reasons")
        try RenderReply.check(
            leftOut?.count ?? 0, 0...Companion.allCases.count, "the number of things left out")
        try RenderReply.check(notes, "notes")
    }
}

extension Confinement {
    fileprivate func check() throws(BrokenReply) {
        try RenderReply.check(gaps.count, 0...ReplyBounds.gapsMax, "the number of gaps")
        for gap in gaps {
            try RenderReply.check(
                gap.reason.count, 0...ReplyBounds.textMax, "the length of a reason")
            try RenderReply.check(!gap.reason.hasControls, "a reason has control characters")
        }
    }
}
