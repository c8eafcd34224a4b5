import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import RenderProtocol
import Rendering

/// A render child that lies: it is not confined, renders as an honest one does, and says or writes one thing that is not
/// so.
final class Liar {
    private let lie: TestLie
    private let renderer: Renderer
    private let socket = DescriptorSocket(adopting: STDIN_FILENO)
    private var buffer: [UInt8] = []
    private var descriptors: [Int32] = []
    /// The files to which a thread writes after the answer.
    private var kept: [RenderFiles] = []

    private static let readBytes = 65_536
    private static let pieceBytes = 4096
    private static let sentenceLength = 10_000_000

    /// The same character again and again, and the end of a line.
    private static func row(_ character: Unicode.Scalar, _ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: character), count: count) + [UInt8(ascii: "\n")]
    }

    init(_ lie: TestLie) throws {
        self.lie = lie
        renderer = try Renderer()
    }

    /// Answers until the socket ends, or the lie is another end.
    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        while let tell = try nextAnswer() { tell() }
        while lie == .misbehaviour(.ignoreEnd) { pause() }
    }

    /// Does what the next request asks for, and returns what tells so; nil at the end. The request's files are closed before: a
    /// child that keeps files is ended after its answer.
    private func nextAnswer() throws -> (() -> Void)? {
        guard let (request, files) = try next() else { return nil }
        if lie == .misbehaviour(.writeOn), case .render = request.work { kept.append(files) }
        do throws(Failure) {
            return try answer(request, files)
        } catch {
            return { self.say(.failed(error), to: request) }
        }
    }

    private func next() throws -> (RenderRequest, RenderFiles)? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let request = try LineFormat.decode(
                    RenderRequest.self, from: Data(buffer[..<end]))
                buffer.removeFirst(end + 1)
                let count = request.files.count
                defer { descriptors.removeFirst(count) }
                return (request, try RenderFiles(request.files, Array(descriptors[..<count])))
            }
            let (bytes, files) = try socket.receive(bytesMax: Self.readBytes)
            if bytes.isEmpty { return nil }
            buffer += bytes
            descriptors += files
        }
    }

    private func answer(
        _ request: RenderRequest, _ files: RenderFiles
    ) throws(Failure) -> () -> Void {
        switch request.work {
        case .confinement: return { self.say(.confined(Confinement()), to: request) }
        case .libraries: return { self.say(.libraries([]), to: request) }
        case .tryFormat(let format, let bitDepth):
            try renderer.tryFormat(format, bitDepth, files)
            return { self.say(.rendered(), to: request) }
        case .text: throw Failure(.internalError, "this child draws no text")
        case .inspect(let photo):
            let inspection = try renderer.inspect(photo, files)
            return { self.say(.inspected(inspection), to: request, as: .inspected) }
        case .contactSheet(let sheet):
            try renderer.drawContactSheet(sheet, files)
            return { self.say(.rendered(), to: request, as: .rendered) }
        case .render(let photo):
            let full = photo.outputs.firstIndex(where: \.isFull) ?? 0
            try renderer.render(photo, files) { done throws(Failure) in
                guard let index = done.output else { return }
                try self.spoil(files.outputs[index], isFull: index == full, isFirst: index == 0)
                guard self.lie != .misbehaviour(.noProgress) else { return }
                self.say(.progress(done), to: request, as: .progress)
            }
            let result = files.outputs[full].descriptor
            return { self.finish(request, result) }
        }
    }

    /// Writes what is not so into an output.
    private func spoil(_ file: OpenFile, isFull: Bool, isFirst: Bool) throws(Failure) {
        switch lie {
        case .result(let bytes) where isFull, .placeholder(let bytes) where isFirst && !isFull:
            try file.cut(to: 0)
            try file.write([UInt8](bytes), at: 0)
        case .length(let length) where isFull: try file.cut(to: length)
        default: return
        }
    }

    /// Ends a render that is written.
    private func finish(_ request: RenderRequest, _ descriptor: Int32) {
        switch lie {
        case .line(let bytes): write([UInt8](bytes) + [UInt8(ascii: "\n")])
        case .misbehaviour(.exit): exit(0)
        case .misbehaviour(.closeOutput):
            close(STDOUT_FILENO)
            while true { pause() }
        case .misbehaviour(.wait): while true { pause() }
        case .misbehaviour(.endlessLine):
            while true { write([UInt8](repeating: UInt8(ascii: "1"), count: Self.pieceBytes)) }
        case .misbehaviour(.longLine): write(Self.row(" ", LineFormat.lineBytesMax + 1))
        case .misbehaviour(.nestedLine): write(Self.row("[", LineFormat.lineBytesMax / 2))
        case .misbehaviour(.longSentence):
            let head =
                #"{"number":\#(request.number),"content":{"failed":{"_0":{"code":"ioFailure","message":""#
            write(Array(head.utf8) + Self.row("m", Self.sentenceLength))
        case .misbehaviour(.manyProgress):
            for _ in 0...ReplyBounds.progressMax { say(.progress(.written(0)), to: request) }
        case .misbehaviour(.answerTwice):
            say(.rendered(), to: request)
            say(.rendered(), to: request)
        case .misbehaviour(.writeOn):
            Thread.detachNewThread {
                let bytes = [UInt8](repeating: 0xAA, count: Self.pieceBytes)
                while true { pwrite(descriptor, bytes, bytes.count, 0) }
            }
            say(.rendered(), to: request)
        default: say(.rendered(), to: request, as: .rendered)
        }
    }

    private func say(
        _ content: RenderReply.Content, to request: RenderRequest, as reply: TestLie.Reply? = nil
    ) {
        do {
            var line = try LineFormat.encode(RenderReply(to: request.number, content))
            if case .value(reply, let path, let value) = lie {
                line = Data(try JSONLie(path, value).applied(in: line)) + [UInt8(ascii: "\n")]
            }
            write([UInt8](line))
        } catch {
            fatalError("\(error)")
        }
    }

    private func write(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            // Nobody reads any more.
            guard count > 0 else { return }
            done += count
        }
    }
}
