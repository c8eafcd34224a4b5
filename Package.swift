// swift-tools-version: 6.2
import PackageDescription

// The compiler's rules for all targets: language mode 6, warnings are errors, imports are internal
// unless a public signature needs them.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient: Target.Dependency = .product(
    name: "AsyncHTTPClient", package: "async-http-client")
let dequeModule: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let serviceLifecycleTestKit: Target.Dependency = .product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals: Target.Dependency = .product(
    name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
    name: "minilab",
    products: [
        .executable(name: "minilab", targets: ["minilab"]),
        .executable(name: "minilab-gateway", targets: ["minilab-gateway"]),
        .executable(name: "minilab-render", targets: ["minilab-render"]),
        .executable(name: "minilab-render-text", targets: ["minilab-render-text"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        // Without traits: no swift-configuration, and no full Foundation.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(
            url: "https://github.com/swift-server/async-http-client", exact: "1.37.0", traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CHiredis", path: "Sources/C/CHiredis"),
        .systemLibrary(name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CVips", path: "Sources/C/CVips", pkgConfig: "vips"),
        .systemLibrary(name: "CCompression", path: "Sources/C/CCompression"),
        // Parts that Swift does not offer: calls of the system and signal handlers, the prefetch instruction, the symbol by which
        // `Edits` gets the list of filters, and the section that the commit is written into.
        .target(name: "CMinilab", path: "Sources/C/CMinilab"),

        // Values: edits, jobs, events, failures, JSON, digests; small machines that rooms share. No I/O.
        .target(
            name: "Edits", dependencies: ["CMinilab", "COpenSSL"], path: "Sources/Edits/Edits"),
        // The filters by family: definition and mathematics. The only I/O is reading resources.
        .target(
            name: "Filters", dependencies: ["CMinilab", "Edits"], path: "Sources/Edits/Filters",
            exclude: ["CSS/CHROMIUM.md"]),
        // The formats of adjustment data, one codec each. Bytes in, recipes out; no I/O.
        .target(
            name: "Editors", dependencies: ["CCompression", "Edits"],
            resources: [.embedInCode("Codecs/SampleEditors.json")]),
        // Values: requests and replies between the worker and its render children. No I/O.
        .target(
            name: "RenderProtocol", dependencies: ["CMinilab", "Edits", "Files"],
            path: "Sources/Children/RenderProtocol"),

        // The common part of all children: the rights that they give up, how they read requests and answer. Links no decoder.
        .target(
            name: "Sandbox",
            dependencies: ["CMinilab", "Edits", "Files", "RenderProtocol", systemPackage],
            path: "Sources/Children/Sandbox"),
        // Breaks of lines, by Unicode's rules.
        .systemLibrary(name: "CPango", path: "Sources/C/CPango", pkgConfig: "pango"),
        // Lines of text as coverage. C, because FreeType's outlines and HarfBuzz's buffers are unions, macros and callbacks.
        .target(
            name: "CText", dependencies: ["CPango"], path: "Sources/C/CText",
            linkerSettings: [.linkedLibrary("freetype"), .linkedLibrary("fribidi")]),
        .target(
            name: "TextChild",
            dependencies: ["CMinilab", "CText", "Edits", "Files", "RenderProtocol", "Sandbox"],
            path: "Sources/Children/TextChild"),

        // Facts that a photo's file states, read and made true after an edit: boxes, headers, metadata, gain maps. Bytes in, values
        // out; no I/O and no decoder.
        .target(name: "PhotoFiles", dependencies: ["CCompression", "Edits", "RenderProtocol"]),

        .target(
            name: "Redis",
            dependencies: ["CHiredis", "Edits", dequeModule, logging, nioCore, nioPosix, nioSSL],
            path: "Sources/Queue/Redis", exclude: ["SERVERS.md"]),
        .target(
            name: "JobQueue", dependencies: ["Edits", "Redis", dequeModule, logging],
            path: "Sources/Queue/JobQueue", exclude: ["QUEUE.md", "SCHEDULING.md"],
            resources: [.embedInCode("Scripts")]),

        // Objects in an S3-compatible store, with conditional writes.
        .target(
            name: "BlobStore",
            dependencies: [
                "Edits", "Files", "Telemetry", asyncHTTPClient, logging, nioCore, nioHTTP1,
                nioPosix, nioSSL, systemPackage, tracing,
            ], path: "Sources/Library/BlobStore"),

        // File operations: open, read, write, copy, digest, list, move, sync.
        .target(
            name: "Files", dependencies: ["CMinilab", "Edits", systemPackage],
            path: "Sources/Library/Files"),
        // Calls that must stay C: libjpeg-turbo reports errors by longjmp; libavcodec, libtiff and libvips call back; LibRaw is C++.
        .target(
            name: "CCodecs", dependencies: ["CVips"], path: "Sources/C/CCodecs",
            linkerSettings: [
                .linkedLibrary("jpeg"), .linkedLibrary("avcodec"), .linkedLibrary("avutil"),
                .linkedLibrary("tiff"), .linkedLibrary("raw_r"),
            ]),
        // Decoders and encoders, a folder for each library. No type of C leaves them.
        .target(
            name: "Codecs", dependencies: ["CCodecs", "CVips", "Edits", "PhotoFiles"],
            exclude: ["HEIC/HEIC.md"]),
        .target(
            name: "Rendering",
            dependencies: [
                "CCodecs", "CCompression", "CMinilab", "Codecs", "Edits", "Files", "Filters",
                "PhotoFiles", "RenderProtocol", "Sandbox", systemPackage,
            ],
            exclude: [
                "Encoders/MEASURED.md", "HDR/HDR.md", "HDR/MEASURED.md", "JPEGLanes/MEASURED.md",
                "Movies/MEASURED.md", "Movies/MOVIES.md", "Pixels/MEASURED.md",
                "Profiles/LICENSES.md", "RENDERING.md", "Renditions/MEASURED.md",
                "Spool/MEASURED.md",
            ],
            resources: [.embedInCode("Profiles/sRGB.icc"), .embedInCode("Profiles/DisplayP3.icc")]),

        .target(
            name: "Library",
            dependencies: ["Editors", "Edits", "Files", "PhotoFiles", systemPackage],
            path: "Sources/Library/Library", exclude: ["LIBRARY.md"]),
        // The same library in an S3-compatible bucket.
        .target(
            name: "BucketLibrary",
            dependencies: [
                "BlobStore", "Editors", "Edits", "Files", "Library", "PhotoFiles", nioCore,
                systemPackage,
            ], path: "Sources/Library/BucketLibrary", exclude: ["BUCKET.md"]),
        // Lends a child and memory to a render. Knows no queue, no library, no edits.
        .target(
            name: "RenderPool",
            dependencies: [
                "Edits", "Files", "PhotoFiles", "RenderProtocol", "Telemetry", logging, subprocess,
                systemPackage, tracing,
            ], path: "Sources/Children/RenderPool",
            exclude: ["CHILDREN.md", "MEASURED.md", "MEMORY.md"]),
        // Plans edits, has them rendered, and seals versions. Depends on no queue.
        .target(
            name: "Editing",
            dependencies: [
                "Editors", "Edits", "Files", "Library", "PhotoFiles", "RenderPool",
                "RenderProtocol", "Telemetry", dequeModule, systemPackage, tracing,
            ], path: "Sources/Worker/Editing", exclude: ["EDITING.md"]),

        // Logs, metrics, traces and their way out: to a collector, a file, or the status port.
        .target(
            name: "Telemetry",
            dependencies: [
                "Edits", "Files", asyncHTTPClient, logging, nioCore, nioHTTP1, nioPosix,
                serviceLifecycle, systemPackage, tracing,
            ], exclude: ["Traces/TRACES.md"]),
        // A job from claim to event: claim, lease, publication, upkeep.
        .target(
            name: "Worker",
            dependencies: [
                "Editing", "Edits", "Files", "JobQueue", "Library", "Redis", "RenderPool",
                "RenderProtocol", "Telemetry", logging, serviceLifecycle, systemPackage, tracing,
            ], path: "Sources/Worker/Worker", exclude: ["WORKER.md"]),

        // Use cases and view models, shared by commands and gateway; depends on neither terminal nor HTTP.
        .target(
            name: "Operations",
            dependencies: [
                "Edits", "JobQueue", "Library", "Redis", "RenderProtocol", logging,
            ]),
        // Keys of the gateway's clients: text, rights, storage.
        .target(
            name: "AccessKeys", dependencies: ["Edits", "JobQueue", "Redis", logging],
            path: "Sources/Gateway/AccessKeys", exclude: ["KEYS.md"]),
        // Sends events to HTTP endpoints: signatures, retries, refused addresses.
        .target(
            name: "Webhooks",
            dependencies: [
                "AccessKeys", "Edits", "JobQueue", "Redis", "Telemetry", asyncHTTPClient, logging,
                nioCore, nioHTTP1, nioPosix, nioSSL, serviceLifecycle, tracing,
            ], path: "Sources/Gateway/Webhooks", exclude: ["WEBHOOKS.md"]),
        // The view models of Operations as HTML pages. No I/O.
        .target(
            name: "Dashboard", dependencies: ["Edits", "JobQueue", "Operations", mustache],
            path: "Sources/Gateway/Dashboard",
            resources: [.embedInCode("Files"), .embedInCode("Templates")]),
        // The HTTP gateway: routes, authorization, bodies in bounded memory, pictures that render children make.
        .target(
            name: "Gateway",
            dependencies: [
                "AccessKeys", "Dashboard", "Editing", "Editors", "Edits", "Files", "JobQueue",
                "Library", "Operations", "Redis", "RenderPool", "RenderProtocol", "Telemetry",
                "Webhooks", asyncHTTPClient, dequeModule, httpTypes, hummingbird, hummingbirdCore,
                logging, nioCore, nioHTTP1, nioPosix, serviceLifecycle, systemPackage, tracing,
            ], path: "Sources/Gateway/Gateway", exclude: ["GATEWAY.md"],
            resources: [.embedInCode("OpenAPI/Contracts")]),

        // The commands and their settings. minilab-bench uses them too, to assemble workers.
        .target(
            name: "Commands",
            dependencies: [
                "AccessKeys", "BlobStore", "BucketLibrary", "Editing", "Editors", "Edits", "Files",
                "Filters", "JobQueue", "Library", "Operations", "Redis", "RenderPool",
                "RenderProtocol", "Telemetry", "Worker", argumentParser, logging, serviceLifecycle,
                subprocess, systemPackage, unixSignals,
            ], path: "Sources/Commands/Commands"),
        .executableTarget(
            name: "minilab", dependencies: ["Commands"], path: "Sources/Commands/minilab"),
        // The gateway's process: settings, start and shutdown.
        .executableTarget(
            name: "minilab-gateway",
            dependencies: [
                "AccessKeys", "Commands", "Dashboard", "Edits", "Gateway", "JobQueue", "Library",
                "Redis", "RenderPool", "RenderProtocol", "Telemetry", "Webhooks", "Worker",
                argumentParser, logging, serviceLifecycle, systemPackage, unixSignals,
            ], path: "Sources/Commands/minilab-gateway"),
        // Benchmarks, a mutator of photos, workers without pixels: for tests and ops/, not a product.
        .executableTarget(
            name: "minilab-bench",
            dependencies: [
                "Commands", "Editing", "Edits", "Files", "JobQueue", "Library", "Redis",
                "RenderPool", "RenderProtocol", "ServiceTesting", "Telemetry", "Worker",
                argumentParser, logging, serviceLifecycle, systemPackage, unixSignals,
            ], path: "Tests/Support/minilab-bench"),
        .executableTarget(
            name: "minilab-render", dependencies: ["Rendering", "RenderProtocol"],
            path: "Sources/Commands/minilab-render"),
        .executableTarget(
            name: "minilab-render-text", dependencies: ["CMinilab", "RenderProtocol", "TextChild"],
            path: "Sources/Commands/minilab-render-text"),

        // A render child that behaves as if a photo had taken it over. For tests only.
        .target(name: "CHostile", path: "Tests/Support/CHostile"),
        .executableTarget(
            name: "minilab-hostile-child",
            dependencies: [
                "CHostile", "Codecs", "Edits", "Files", "MinilabTesting", "Rendering",
                "RenderProtocol", "Sandbox",
            ], path: "Tests/Support/minilab-hostile-child"),

        // All entry points for untrusted bytes; ops/fuzz calls them.
        .target(
            name: "EntryPoints",
            dependencies: [
                "Editors", "Edits", "Filters", "PhotoFiles", "RenderProtocol", "TextChild",
            ], path: "Tests/Support/EntryPoints"),

        // Helpers of several test targets, such as real servers that end with the test process. With the filters, so that a
        // test target that names none links without the others.
        .target(
            name: "MinilabTesting", dependencies: ["CCompression", "Edits", "Filters"],
            path: "Tests/Support/MinilabTesting", exclude: ["relative-edits.py", "validate.py"]),
        // Helpers of tests that need services: clients of the object stores that MinilabTesting starts, an HTTP server with scripted
        // responses, and fleets in simulated time that the production code scales (plots read these, too).
        .target(
            name: "ServiceTesting",
            dependencies: [
                "BlobStore", "JobQueue", "MinilabTesting", logging, nioCore, nioHTTP1, nioPosix,
                nioSSL,
            ], path: "Tests/Support/ServiceTesting"),
        .testTarget(name: "EditsTests", dependencies: ["Edits", "Filters", "MinilabTesting"]),
        .testTarget(
            name: "EditorsTests", dependencies: ["Editors", "Edits", "Filters", "MinilabTesting"]),
        // Compares the contract in jobs/ with Edits, with independent tools as judges.
        .testTarget(
            name: "ContractTests", dependencies: ["Editors", "Edits", "MinilabTesting"]),
        // The programs as an operator runs them: on a real Redis, killed by real signals. Tests start the released ones
        // (MinilabTesting.Programs), so that no test target depends on an executable.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BlobStore", "Edits", "JobQueue", "MinilabTesting", "Redis", "RenderProtocol",
                "ServiceTesting", logging, nioHTTP1,
            ]),
        .testTarget(
            name: "QueueTests",
            dependencies: [
                "Edits", "JobQueue", "MinilabTesting", "Redis", logging, nioCore, nioPosix,
            ]),
        .testTarget(
            name: "CommandsTests",
            dependencies: [
                "Edits", "JobQueue", "Library", "MinilabTesting", "Operations", "ServiceTesting",
            ]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "AccessKeys", "CCompression", "COpenSSL", "Dashboard", "Editors", "Edits", "Files",
                "Gateway", "JobQueue", "Library", "MinilabTesting", "Operations", "Redis",
                "ServiceTesting", "Telemetry", "Webhooks", asyncHTTPClient, httpTypes, hummingbird,
                logging, nioCore, nioEmbedded, nioHTTP1, nioPosix, serviceLifecycle, systemPackage,
                tracing,
            ]),
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "BlobStore", "BucketLibrary", "Editors", "Edits", "Files", "Library",
                "MinilabTesting", "ServiceTesting", logging, nioCore, nioHTTP1, nioSSL,
                systemPackage,
            ]),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "Editing", "Editors", "Edits", "Files", "JobQueue", "Library", "MinilabTesting",
                "Redis", "RenderPool", "RenderProtocol", "Telemetry", "Worker", logging, nioCore,
                nioEmbedded, serviceLifecycle, systemPackage,
            ]),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Edits", "MinilabTesting", "ServiceTesting", "Telemetry", logging,
                serviceLifecycleTestKit, systemPackage, tracing,
            ]),
        .testTarget(
            name: "PhotoFilesTests",
            dependencies: [
                "Edits", "EntryPoints", "Filters", "MinilabTesting", "PhotoFiles", "RenderProtocol",
            ]),
        .testTarget(
            name: "CodecsTests",
            dependencies: ["CCompression", "Codecs", "Edits", "MinilabTesting", "PhotoFiles"]),
        .testTarget(
            name: "RenderingTests",
            dependencies: [
                "CMinilab", "Codecs", "Editors", "Edits", "Files", "Filters", "MinilabTesting",
                "PhotoFiles", "Rendering", "RenderProtocol", "Sandbox",
            ]),
        .testTarget(
            name: "TextTests",
            dependencies: [
                "Edits", "Files", "MinilabTesting", "RenderProtocol", "TextChild",
            ]),
    ]
)

// Only ops/fuzz builds the fuzzer, whose main comes from the compiler option -sanitize=fuzzer.
if Context.environment["MINILAB_FUZZING"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "ops/lib/fuzz/CFuzzer"),
        .executableTarget(
            name: "minilab-fuzz",
            dependencies: ["CFuzzer", "EntryPoints"],
            path: "ops/lib/fuzz/Fuzzer"),
    ]
}

#if arch(x86_64)
    // The renderer once more, for processors of level 3 of the x86-64 psABI: only the modules that calculate pixels. The
    // compiler takes one module at one level, and a folder for one target, so Sources/Commands/x86-64-v3 has links to theirs.
    let wideModules = ["Filters", "Rendering"]
    let wideSettings: [SwiftSetting] = [
        .unsafeFlags(
            ["-Xcc", "-march=x86-64-v3"]
                + wideModules.flatMap { ["-module-alias", "\($0)=\($0)V3"] })
    ]
    for target in package.targets where wideModules.contains(target.name) {
        package.targets.append(
            .target(
                name: target.name + "V3", dependencies: wide(target.dependencies),
                path: "Sources/Commands/x86-64-v3/" + target.name, exclude: target.exclude,
                resources: target.resources, swiftSettings: wideSettings))
    }
    package.targets.append(
        .executableTarget(
            name: "minilab-render-x86-64-v3",
            dependencies: ["RenderingV3", "RenderProtocol"],
            path: "Sources/Commands/x86-64-v3/minilab-render", swiftSettings: wideSettings))
    package.products.append(
        .executable(name: "minilab-render-x86-64-v3", targets: ["minilab-render-x86-64-v3"]))

    func wide(_ dependencies: [Target.Dependency]) -> [Target.Dependency] {
        dependencies.map {
            guard let name = $0.targetName, wideModules.contains(name) else { return $0 }
            return .target(name: name + "V3")
        }
    }
#endif

extension Target.Dependency {
    /// The target of this package; nil for a product of another one.
    var targetName: String? {
        switch self {
        case .byNameItem(let name, _), .targetItem(let name, _): name
        default: nil
        }
    }
}

// MINILAB_TARGETS names programs or test targets; they and their dependencies are built, and nothing else. One call of
// `swift build` can then build several programs, and tests without programs.
if let named = Context.environment["MINILAB_TARGETS"] {
    var wanted = named.split(separator: " ").map(String.init)
    if wanted == ["tests"] { wanted = package.targets.filter { $0.type == .test }.map(\.name) }
    var kept: Set<String> = []
    while let name = wanted.popLast() {
        guard kept.insert(name).inserted else { continue }
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("MINILAB_TARGETS names \(name), and Package.swift has no such target")
        }
        wanted += target.dependencies.compactMap(\.targetName)
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { !kept.contains($0.name) }
}

for target in package.targets where target.type != .system {
    target.swiftSettings = settings + (target.swiftSettings ?? [])
}

// Loops over pixels and bytes: unoptimised they take ten times as long, and most of the tests' time.
let optimised: Set = ["Codecs", "Filters", "PhotoFiles", "Rendering"]
let optimisation = SwiftSetting.unsafeFlags(
    ["-O", "-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode"],
    .when(configuration: .debug))
for target in package.targets where optimised.contains(target.name) {
    target.swiftSettings?.append(optimisation)
}
