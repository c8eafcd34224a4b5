public import Edits

/// The further places in which programs keep a value of ``Edits/MetadataChanges``, and show it.
///
/// A value that is written or removed goes from all of them, so that no reader shows the old one. ``XMPProperty``, ``Exif`` and ``IPTC`` have
/// the places into which it is written. This is the one list of copies:
///
/// | field | XMP | EXIF | IIM | PNG |
/// |---|---|---|---|---|
/// | keywords | Lightroom's and digiKam's trees, Microsoft's last list, ACDSee's, Media Pro's | XPKeywords | | |
/// | creator, rights, caption, title | of TIFF (`tiff:Artist`), of PDF, of XMP before 2005, of ACDSee | XPAuthor …, those of EXIF 3.0 | | Author … |
/// | creator, rights, where they say the same | PLUS' and IPTC's creators, PLUS' owners, of video, of Creative Commons | | | |
/// | caption, where a comment says the same | `exif:UserComment` | UserComment | | Comment; a JPEG's comment |
/// | date | of ACDSee | | | Creation Time |
/// | rating | Microsoft's, ACDSee's | Rating, RatingPercent | | |
/// | country | codes of the country | | Country Code | |
///
/// Sources: MWG 2.0 §5; exiftool's XMP.pm, Microsoft.pm, MWG.pm; digiKam's and Lightroom's files; immich and other readers take the trees of
/// keywords *instead of* `dc:subject`.
enum ValueCopies {
    /// Name spaces of copies, by the prefixes that ``xmp(_:)`` uses. Microsoft's URI is written with and without a slash.
    static let spaces = [
        "lr": "http://ns.adobe.com/lightroom/1.0/", "digiKam": "http://www.digikam.org/ns/1.0/",
        "MicrosoftPhoto": "http://ns.microsoft.com/photo/1.0/",
        "MicrosoftPhotoBare": "http://ns.microsoft.com/photo/1.0",
        "mediapro": "http://ns.iview-multimedia.com/mediapro/1.0/",
        "expressionmedia": "http://ns.microsoft.com/expressionmedia/1.0/",
        "acdsee": "http://ns.acdsee.com/iptc/1.0/", "pdf": "http://ns.adobe.com/pdf/1.3/",
        "mwg-kw": "http://www.metadataworkinggroup.com/schemas/keywords/",
        "cc": "http://creativecommons.org/ns#",
        "xmpDM": "http://ns.adobe.com/xmp/1.0/DynamicMedia/",
    ]

    private static let xmpNames: [MetadataChanges.Field: [String]] = [
        .keywords: [
            "lr:hierarchicalSubject", "lr:weightedFlatSubject", "digiKam:TagsList",
            "MicrosoftPhoto:LastKeywordXMP", "MicrosoftPhoto:LastKeywordIPTC",
            "MicrosoftPhotoBare:LastKeywordXMP", "MicrosoftPhotoBare:LastKeywordIPTC",
            "mediapro:CatalogSets", "expressionmedia:CatalogSets", "acdsee:keywords",
            "acdsee:categories", "mwg-kw:Keywords", "pdf:Keywords", "xmp:Keywords",
        ],
        .creator: ["tiff:Artist", "exif:Artist", "pdf:Author", "xmp:Author", "acdsee:author"],
        .rights: ["tiff:Copyright", "exif:Copyright", "pdf:Copyright"],
        .caption: [
            "tiff:ImageDescription", "exif:ImageDescription", "xmp:Description", "pdf:Subject",
            "acdsee:notes",
        ],
        .title: ["pdf:Title", "xmp:Title", "acdsee:caption"],
        .date: ["acdsee:datetime"],
        .rating: ["MicrosoftPhoto:Rating", "MicrosoftPhotoBare:Rating", "acdsee:rating"],
        .country: ["Iptc4xmpCore:CountryCode"],
    ]

    /// The properties that go with a field.
    static func xmp(_ field: MetadataChanges.Field) -> [String] { xmpNames[field] ?? [] }

    /// Whether a comment goes with the caption: one that says something else is no copy of it.
    static func isCopy(
        comment: String?, of caption: String?, writing changes: MetadataChanges
    ) -> Bool {
        guard changes[.caption] != nil, let comment, let caption else { return false }
        return comment == caption
    }

    /// Properties that may name another one than the field does, or say more of him: copies only where they say what it says.
    private static let likely: [MetadataChanges.Field: [String]] = [
        .creator: [
            "plus:ImageCreator", "Iptc4xmpExt:Creator", "xmpDM:artist", "cc:attributionName",
        ],
        .rights: ["plus:CopyrightOwner", "xmpDM:copyright"],
    ]

    /// Returns such properties of the changed fields, each with the texts that make a copy of it: those of the photo before.
    static func likely(
        _ changes: MetadataChanges, of texts: PhotoTexts
    ) -> [(property: String, texts: Set<String>)] {
        let creators = Set(texts.creator + [Exif.joined(texts.creator)])
        return likely.flatMap { field, properties -> [(property: String, texts: Set<String>)] in
            guard changes[field] != nil else { return [] }
            // Rights are often said by their owner's name.
            let same =
                field == .rights ? creators.union([texts.rights].compactMap(\.self)) : creators
            return properties.map { ($0, same) }
        }
    }

    /// The comment of EXIF in XMP, as digiKam and ACDSee write it.
    static let comment = "exif:UserComment"

    /// Properties that are about the whole file, and untrue once anything is written: the place of a C2PA manifest.
    static let ofFile = ["dcterms:provenance"]

    /// Fields of the structure of the place shown, which go with a field.
    static let ofPlace: [MetadataChanges.Field: [String]] = [.country: ["Iptc4xmpExt:CountryCode"]]

    /// Tags of the first directory, and of that of EXIF. 0x9C9B to 0x9C9F are Windows', the others of EXIF 3.0.
    static let exifMain: [MetadataChanges.Field: [Int]] = [
        .title: [0x9C9B, 0x9C9F], .caption: [0x9C9C], .creator: [0x9C9D], .keywords: [0x9C9E],
        .rating: [0x4746, 0x4749],
    ]
    static let exif: [MetadataChanges.Field: [Int]] = [.title: [0xA436], .creator: [0xA437]]
    /// Packets and records within EXIF, which say what they said before.
    static let exifOfFile = [0x02BC, 0x83BB]

    /// Data sets of record 2.
    static let iptc: [MetadataChanges.Field: [Int]] = [.country: [100]]
}

extension XMPWriter {
    /// Whether a property is there and has no other texts than these, at any depth.
    func says(nothingBut texts: Set<String>, in name: String) -> Bool {
        let found = fields(name).flatMap { field in
            field.element?.allTexts(bytes) ?? [XMPText.unescaped(bytes[field.value])]
        }
        return !found.isEmpty && found.allSatisfy(texts.contains)
    }
}

extension XMPElement {
    /// The texts of the element and of those in it, and of attributes that are properties.
    fileprivate func allTexts(_ bytes: [UInt8]) -> [String] {
        let further = attributes.filter { attribute in
            !["xml:", "xmlns", "rdf:"].contains { attribute.name.hasPrefix($0) }
        }.map { XMPText.unescaped(bytes[$0.value]) }
        guard children.isEmpty else { return further + children.flatMap { $0.allTexts(bytes) } }
        return further.isEmpty ? [XMPText.unescaped(bytes[content])] : further
    }
}

/// The fate of texts beside the metadata, a PNG's texts and a JPEG's comments, when values are written into the metadata.
public struct FileTextCopies: Sendable {
    private let changes: MetadataChanges
    /// The caption before: a comment that says the same is a copy of it.
    private let caption: String?

    /// - Parameters:
    ///   - changes: without placeholders.
    ///   - texts: the photo's texts before.
    public init(_ changes: MetadataChanges, of texts: PhotoTexts) {
        (self.changes, caption) = (changes, texts.caption)
    }

    /// Keys of the PNG specification (third edition §11.3.3.1), whose texts are written anew.
    private static let keys: [String: MetadataChanges.Field] = [
        "title": .title, "author": .creator, "description": .caption, "copyright": .rights,
        "creation time": .date,
    ]

    /// Further keys, of ImageMagick and exiftool, which go.
    private static let further: [String: MetadataChanges.Field] = ["artist": .creator]

    /// Tags of EXIF as ImageMagick writes each of them, `exif:Artist`.
    private static let tags: [MetadataChanges.Field: [String]] = [
        .creator: ["artist", "xpauthor", "photographer", "winxp-author"],
        .rights: ["copyright"], .caption: ["imagedescription", "xpcomment", "winxp-comments"],
        .title: ["xptitle", "xpsubject", "imagetitle", "winxp-title", "winxp-subject"],
        .keywords: ["xpkeywords", "winxp-keywords"], .rating: ["rating", "ratingpercent"],
        .date: [
            "datetimeoriginal", "offsettimeoriginal", "subsectimeoriginal", "timezoneoriginal",
        ],
    ]

    /// Returns the text as it is now; nil if it goes.
    public func text(_ key: String, _ text: String) -> String? {
        let name = key.lowercased()
        if let field = Self.further[name] { return changes[field] == nil ? text : nil }
        if let field = Self.keys[name] {
            guard let value = changes[field] else { return text }
            switch field {
            case .creator: return value.texts.isEmpty ? nil : Exif.joined(value.texts)
            case .date: return value.date?.text
            default: return value.literal
            }
        }
        if name == "comment" {
            return ValueCopies.isCopy(comment: text, of: caption, writing: changes) ? nil : text
        }
        return copies.contains(name) ? nil : text
    }

    /// Returns whether a comment of a JPEG stays.
    public func keeps(comment: [UInt8]) -> Bool {
        !ValueCopies.isCopy(comment: Exif.text(comment), of: caption, writing: changes)
    }

    /// The lower-case names of texts that are copies of what is written.
    private var copies: Set<String> {
        changes.values.keys.reduce(into: []) { names, field in
            names.formUnion((Self.tags[field] ?? []).map { "exif:" + $0 })
            names.formUnion(ValueCopies.xmp(field).map { $0.lowercased() })
            names.formUnion(
                XMPProperty.all(of: MetadataChanges([field: .removed])).map {
                    $0.name.lowercased()
                })
        }
    }
}
