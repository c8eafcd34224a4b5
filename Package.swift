// swift-tools-version: 6.2
import PackageDescription

// One place for the compiler's rules: language mode 6, warnings are errors, imports are internal
// unless a public signature needs them.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "minilab",
    products: [
        .executable(name: "minilab", targets: ["minilab"]),
        .executable(name: "minilab-gateway", targets: ["minilab-gateway"]),
        .executable(name: "minilab-render", targets: ["minilab-render"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        // Without its own ways to read settings, and without all of Foundation.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(
            url: "https://github.com/swift-server/async-http-client", exact: "1.37.0", traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
        // For signatures of ID tokens alone; what they claim is checked here (Sources/Gateway/GATEWAY.md).
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // C libraries, from Debian's packages (ops/setup).
        .systemLibrary(name: "CDeflate"),
        .systemLibrary(name: "CHiredis"),
        .systemLibrary(name: "CRaw"),
        .systemLibrary(name: "CVips", pkgConfig: "vips"),
        .systemLibrary(name: "CZlib"),
        // The symbol by which `Adjustments` gets the list of filters.
        .target(name: "CFilterList"),
        // An instruction that Swift has no name for.
        .target(name: "CPrefetch"),
        // Calls that must stay C: system calls without a wrapper, signal handlers.
        .target(name: "CConfinement"),
        // Linux' own calls on files, which Swift does not import.
        .target(name: "CSpool"),
        // Calls that must stay C: libtiff calls back.
        .target(name: "CTIFFTiles", linkerSettings: [.linkedLibrary("tiff")]),
        // Calls that must stay C: libavcodec calls back, and fields of its structures may move.
        .target(
            name: "CCodecs",
            linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
        // Calls that must stay C: libjpeg-turbo reports errors by longjmp.
        .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),

        // Values: what an edit, a job and an event are. No I/O.
        .target(
            name: "Adjustments",
            dependencies: ["CFilterList", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        // The filters: a file each, definition and mathematics. No I/O but reading resources.
        .target(
            name: "Filters", dependencies: ["Adjustments", "CFilterList"],
            exclude: ["CSS/CHROMIUM.md"],
            swiftSettings: settings),
        // Property lists of strangers, within limits. Bytes in, values out; no I/O.
        .target(name: "PropertyLists", dependencies: ["Adjustments"], swiftSettings: settings),
        // The formats of adjustment data: a codec each. Bytes in, recipes out; no I/O.
        .target(
            name: "Editors", dependencies: ["Adjustments", "CZlib", "PropertyLists"],
            swiftSettings: settings),
        // Values: what the worker and its render children say to each other. No I/O.
        .target(
            name: "RenderProtocol", dependencies: ["Adjustments", "Files"],
            swiftSettings: settings),

        // The boxes of HEIF, JPEG XL and movies. Bytes at offsets in, values out; no I/O.
        .target(name: "Boxes", swiftSettings: settings),

        // EXIF, XMP and IPTC made true after an edit. Bytes in, bytes out; no I/O.
        .target(name: "Metadata", dependencies: ["Adjustments", "Boxes"], swiftSettings: settings),

        // Gain maps: what their codes mean, where they lie, what an edit makes of them. Bytes in, values out; no I/O.
        .target(
            name: "GainMaps", dependencies: ["Adjustments", "Boxes", "Metadata"],
            swiftSettings: settings),

        // The facts that a photo's file states, before a decoder opens it. Bytes at offsets in, numbers out; no I/O.
        .target(
            name: "Headers",
            dependencies: ["Adjustments", "Boxes", "CZlib", "Metadata", "RenderProtocol"],
            swiftSettings: settings),

        .target(
            name: "Redis",
            dependencies: [
                "CHiredis",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            exclude: ["SERVERS.md"], swiftSettings: settings),
        .target(
            name: "JobQueue",
            dependencies: [
                "Adjustments", "Redis",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["QUEUE.md", "SCHEDULING.md"],
            resources: [.embedInCode("Scripts")],
            swiftSettings: settings),

        // Objects in an S3-compatible store, with conditional writes.
        .target(
            name: "BlobStore",
            dependencies: [
                "Traces",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),

        // Files: opened, read, written, copied, digested, listed, moved, made to last.
        .target(
            name: "Files",
            dependencies: [
                "Adjustments", "CSpool",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(name: "JPEG", dependencies: ["CJPEG"], swiftSettings: settings),
        // Classes of libvips for open files; they must stay C.
        .target(name: "CVipsFiles", dependencies: ["CVips"]),
        .target(
            name: "Vips", dependencies: ["Adjustments", "CVips", "CVipsFiles"],
            swiftSettings: settings),
        // The way of pixels from a decoder to an encoder, row by row: knows neither.
        .target(
            name: "Pixels",
            dependencies: ["Adjustments", "CPrefetch", "Filters", "RenderProtocol"],
            exclude: ["MEASURED.md"], swiftSettings: settings),
        // Decoders of libavcodec, for stills and movies.
        .target(name: "Codecs", dependencies: ["CCodecs"], swiftSettings: settings),
        // HEIC, tile by tile: rows of an upright picture.
        .target(
            name: "HEIC", dependencies: ["Boxes", "Codecs"], exclude: ["HEIC.md"],
            swiftSettings: settings),
        // Camera RAW, developed by LibRaw.
        .target(name: "Raw", dependencies: ["CRaw"], swiftSettings: settings),
        .target(
            name: "Rendering",
            dependencies: [
                "Adjustments", "Boxes", "CConfinement", "CDeflate", "CSpool",
                "CTIFFTiles", "CZlib", "Codecs", "Files", "Filters", "GainMaps", "HEIC", "Headers",
                "JPEG", "Metadata",
                "Pixels", "Raw",
                "RenderProtocol", "Vips",
            ],
            exclude: [
                "Encoders/MEASURED.md", "HDR/HDR.md", "HDR/MEASURED.md", "JPEGLanes/MEASURED.md",
                "Movies/MEASURED.md", "Movies/MOVIES.md", "Profiles/LICENSES.md", "RENDERING.md",
                "Spool/MEASURED.md",
            ],
            resources: [.embedInCode("Profiles/sRGB.icc"), .embedInCode("Profiles/DisplayP3.icc")],
            swiftSettings: settings),

        .target(
            name: "Library",
            dependencies: [
                "Adjustments", "Boxes", "Editors", "Files", "Metadata",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["LIBRARY.md"],
            swiftSettings: settings),
        // The same library in an S3-compatible bucket.
        .target(
            name: "BucketLibrary",
            dependencies: [
                "Adjustments", "BlobStore", "Boxes", "Editors", "Files", "Library", "Metadata",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["BUCKET.md"],
            swiftSettings: settings),
        // Lends a child and memory to a render. Knows no queue, no library, no edits.
        .target(
            name: "RenderPool",
            dependencies: [
                "Adjustments", "Files", "Headers", "RenderProtocol", "Traces",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["CHILDREN.md", "MEMORY.md"],
            swiftSettings: settings),
        // Decides what an edit comes to, has it rendered, and seals the version. Knows no queue.
        .target(
            name: "Editing",
            dependencies: [
                "Adjustments", "Boxes", "Editors", "Files", "Headers", "Library", "RenderPool",
                "RenderProtocol", "Traces",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["EDITING.md"],
            swiftSettings: settings),
        // One job from claim to event: claim, hold, publish, upkeep.
        .target(
            name: "Worker",
            dependencies: [
                "Adjustments", "Editing", "Files", "JobQueue", "Library", "Redis", "RenderPool",
                "RenderProtocol", "Traces",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["WORKER.md"],
            swiftSettings: settings),
        .target(
            name: "Telemetry",
            dependencies: [
                "Adjustments",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),

        // Spans of distributed traces: what is recorded, and how OTLP writes it. No I/O.
        .target(
            name: "Traces",
            dependencies: [
                "Adjustments",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["TRACES.md"],
            swiftSettings: settings),
        // Spans sent to a collector or a file.
        .target(
            name: "TraceExport",
            dependencies: [
                "Adjustments", "Files", "Telemetry", "Traces",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),

        // A status port: pages for who watches a process, over HTTP.
        .target(
            name: "StatusServing",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        // The pages of a worker's status port: metrics, health.
        .target(
            name: "Status",
            dependencies: [
                "Adjustments", "JobQueue", "RenderPool", "RenderProtocol", "StatusServing",
                "Telemetry",
                "Worker",
            ],
            swiftSettings: settings),

        // Use cases and what they show, for the commands and the gateway alike; knows neither terminal nor HTTP.
        .target(
            name: "Operations",
            dependencies: [
                "Adjustments", "Files", "JobQueue", "Library", "Redis", "RenderProtocol",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // Keys of the gateway's clients: their text, what each may do, where they are kept.
        .target(
            name: "AccessKeys",
            dependencies: [
                "Adjustments", "JobQueue", "Redis",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["KEYS.md"],
            swiftSettings: settings),
        // Events sent to HTTP endpoints: signatures, retries, addresses that are refused.
        .target(
            name: "Webhooks",
            dependencies: [
                "Traces",
                "Adjustments", "JobQueue", "Redis",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["WEBHOOKS.md"],
            swiftSettings: settings),
        // Sign-in by OpenID Connect: what a provider says, what is believed of it. Knows neither Redis nor pages.
        .target(
            name: "OpenIDConnect",
            dependencies: [
                "Adjustments",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        // The pages: what Operations shows, as HTML. No I/O.
        .target(
            name: "Dashboard",
            dependencies: [
                "Adjustments", "JobQueue", "Operations",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            resources: [.embedInCode("Files"), .embedInCode("Templates")],
            swiftSettings: settings),
        // The HTTP gateway: routes, who may call them, bodies in bounded memory.
        .target(
            name: "Gateway",
            dependencies: [
                "Traces",
                "AccessKeys", "Adjustments", "Dashboard", "Editors", "Files", "JobQueue", "Library",
                "OpenIDConnect", "Operations", "Redis", "RenderProtocol", "StatusServing",
                "Telemetry", "Webhooks",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            exclude: ["GATEWAY.md"],
            resources: [.embedInCode("OpenAPI/Contracts")],
            swiftSettings: settings),

        // The commands, with their settings; minilab-bench shares these and the parts of a worker.
        .target(
            name: "MinilabCommands",
            dependencies: [
                "Traces",
                "TraceExport",
                "AccessKeys", "Adjustments", "BlobStore", "BucketLibrary", "Editing", "Editors",
                "Files", "Filters",
                "JobQueue", "Library", "Operations", "Redis", "RenderPool",
                "RenderProtocol", "Status", "StatusServing", "Telemetry", "Worker",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Sources/minilab",
            swiftSettings: settings),
        .executableTarget(
            name: "minilab", dependencies: ["MinilabCommands"], path: "Sources/minilab-main",
            swiftSettings: settings),
        // The gateway as a process: its settings and its end.
        .executableTarget(
            name: "minilab-gateway",
            dependencies: [
                "Traces",
                "TraceExport",
                "AccessKeys", "Adjustments", "Dashboard", "Editing", "Files", "Gateway", "JobQueue",
                "Library", "MinilabCommands", "OpenIDConnect", "Operations", "Redis", "RenderPool",
                "RenderProtocol",
                "StatusServing", "Telemetry", "Webhooks", "Worker",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        // Benches, mutator, workers without pixels: for tests and ops/, not a product.
        .executableTarget(
            name: "minilab-bench",
            dependencies: [
                "Adjustments", "Editing", "Files", "FleetSimulation", "JobQueue", "MinilabCommands",
                "Redis", "RenderPool", "RenderProtocol", "Worker",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "minilab-render",
            dependencies: ["Adjustments", "RenderProtocol", "Rendering"],
            swiftSettings: settings),

        // A render child that does what a photo would try that has taken it over. No product: tests build it.
        .target(name: "CHostile", path: "Tests/CHostile"),
        .executableTarget(
            name: "minilab-hostile-child",
            dependencies: [
                "Adjustments", "CHostile", "Files", "MinilabTesting", "RenderProtocol",
                "Rendering", "Vips",
            ],
            path: "Tests/hostile-child", swiftSettings: settings),

        // The ways in for strangers' bytes; ops/fuzz tries them.
        .target(
            name: "EntryPoints",
            dependencies: [
                "Adjustments", "Boxes", "Editors", "Filters", "GainMaps", "Headers", "Metadata",
                "PropertyLists",
                "RenderProtocol",
            ],
            swiftSettings: settings),

        // For tests of several targets: real servers that never outlive the test process.
        .target(
            name: "MinilabTesting", dependencies: ["Adjustments", "CZlib"],
            exclude: ["validate.py"],
            swiftSettings: settings),
        // Fleets that scale by the formula that runs, in made-up time: for tests and plots.
        .target(
            name: "FleetSimulation", dependencies: ["JobQueue", "MinilabTesting", "Operations"],
            swiftSettings: settings),
        // Clients of the object stores that MinilabTesting starts.
        .target(
            name: "StoreTesting",
            dependencies: [
                "BlobStore", "MinilabTesting", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // A server that answers as its test says: for webhooks, collectors of traces.
        .target(
            name: "HTTPTesting",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RedisTests",
            dependencies: [
                "MinilabTesting", "Redis",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BlobStoreTests",
            dependencies: [
                "BlobStore", "MinilabTesting", "StoreTesting",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AdjustmentsTests", dependencies: ["Adjustments", "Filters", "MinilabTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "PropertyListsTests",
            dependencies: ["Adjustments", "MinilabTesting", "PropertyLists"],
            swiftSettings: settings),
        .testTarget(
            name: "EditorsTests",
            dependencies: ["Adjustments", "Editors", "Filters", "MinilabTesting", "PropertyLists"],
            swiftSettings: settings),
        .testTarget(
            name: "EntryPointsTests", dependencies: ["EntryPoints", "MinilabTesting"],
            swiftSettings: settings),
        // The promises of jobs/ held against Adjustments, judged by tools that are not ours.
        .testTarget(
            name: "ContractTests",
            dependencies: ["Adjustments", "Editors", "Filters", "MinilabTesting"],
            swiftSettings: settings),
        // The executables as an operator runs them, on a real Redis, killed for real.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Adjustments", "BlobStore", "HTTPTesting", "JobQueue", "MinilabTesting", "Redis",
                "RenderProtocol", "StoreTesting", "minilab", "minilab-bench", "minilab-gateway",
                "minilab-render",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "JobQueueTests",
            dependencies: [
                "Adjustments", "JobQueue", "MinilabTesting", "Redis",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                "Adjustments", "FleetSimulation", "JobQueue", "Library", "MinilabTesting",
                "Operations", "Redis",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AccessKeysTests",
            dependencies: [
                "AccessKeys", "Adjustments", "JobQueue", "MinilabTesting", "Redis",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "Adjustments", "HTTPTesting", "JobQueue", "MinilabTesting", "Redis", "Webhooks",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DashboardTests",
            dependencies: [
                "Adjustments", "CZlib", "Dashboard", "JobQueue", "MinilabTesting", "Operations",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "AccessKeys", "Adjustments", "Files", "Gateway", "JobQueue", "Library",
                "MinilabTesting", "OpenIDConnect", "Operations", "Redis", "StatusServing",
                "Telemetry", "Webhooks", "minilab", "minilab-gateway",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FilesTests",
            dependencies: [
                "Adjustments", "Files", "MinilabTesting",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "Adjustments", "Editors", "Files", "Library", "MinilabTesting",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BucketLibraryTests",
            dependencies: [
                "Adjustments", "BlobStore", "BucketLibrary", "Editors", "Files", "Filters",
                "Library", "MinilabTesting", "StoreTesting",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "Adjustments", "Editing", "Editors", "Files", "Filters", "JobQueue", "Library",
                "MinilabTesting", "Redis", "RenderPool", "RenderProtocol", "Worker",
                "minilab-hostile-child", "minilab-render",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StatusTests",
            dependencies: [
                "Adjustments", "JobQueue", "MinilabTesting", "Redis", "RenderPool",
                "RenderProtocol", "Status", "StatusServing", "Telemetry", "Worker",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TracesTests",
            dependencies: [
                "Adjustments", "HTTPTesting", "MinilabTesting", "Telemetry", "TraceExport",
                "Traces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "JPEGTests", dependencies: ["JPEG", "MinilabTesting", "Vips"],
            swiftSettings: settings),
        .testTarget(
            name: "MetadataTests",
            dependencies: ["Adjustments", "Boxes", "Metadata", "MinilabTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "GainMapsTests",
            dependencies: [
                "Adjustments", "Boxes", "Filters", "GainMaps", "Metadata", "MinilabTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BoxesTests", dependencies: ["Boxes", "MinilabTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "CodecsTests", dependencies: ["Boxes", "CZlib", "Codecs", "MinilabTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "HEICTests", dependencies: ["Boxes", "Codecs", "HEIC", "MinilabTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "HeadersTests",
            dependencies: [
                "Adjustments", "Boxes", "Headers", "MinilabTesting", "RenderProtocol",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "VipsTests", dependencies: ["Adjustments", "Vips"], swiftSettings: settings),
        .testTarget(
            name: "RenderingTests",
            dependencies: [
                "Adjustments", "Boxes", "Editors", "Files", "Filters", "GainMaps", "HEIC",
                "Headers",
                "Codecs", "JPEG",
                "CConfinement", "Metadata", "MinilabTesting", "Pixels", "RenderProtocol",
                "Rendering",
                "Vips",
                "minilab-hostile-child", "minilab-render",
            ],
            swiftSettings: settings),
    ]
)

// Only ops/fuzz builds the fuzzer: it has no main of its own without the compiler's -sanitize=fuzzer.
if Context.environment["MINILAB_FUZZING"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "ops/fuzzing/CFuzzer"),
        .executableTarget(
            name: "minilab-fuzz", dependencies: ["CFuzzer", "EntryPoints"],
            path: "ops/fuzzing/Fuzzer", swiftSettings: settings),
    ]
}

// ops/test --filter builds the test targets that the filter names, and not the others.
if let named = Context.environment["MINILAB_TEST_TARGETS"] {
    let wanted = named.split(separator: " ").map(String.init)
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
