import FoundationEssentials
import Hummingbird
import Logging
import NIOCore

/// The body of POST /v1/jobs, as ops/bench/gateway sends it.
struct Job: Decodable {
    struct Edit: Decodable {
        struct Filter: Decodable {
            let name: String
            let inputIntensity: Double
        }
        let filters: [Filter]
    }
    let asset: String
    let id: String
    let edit: Edit
}

/// The answer of the gateway, in as many bytes.
struct Taken: Encodable {
    let job: String
    let state = "incoming"
}

let bodyBytesMax = 64 << 10

let router = Router()
router.post("/v1/jobs") { request, _ in
    let body = try await request.body.collect(upTo: bodyBytesMax)
    let job = try JSONDecoder().decode(Job.self, from: Data(body.readableBytesView))
    let answer = try JSONEncoder().encode(Taken(job: "bench." + job.id))
    return Response(
        status: .accepted,
        headers: [.contentType: "application/json", .location: "/v1/jobs/bench.\(job.id)"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer)))
}

let port = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 8180
var logger = Logger(label: "bare")
logger.logLevel = .error
try await Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
    logger: logger
).runService()
