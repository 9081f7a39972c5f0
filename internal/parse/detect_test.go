package parse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/text/transform"
)

// texts are a few sentences each, as a page of that language may have them, and the encodings that such pages come in.
var texts = []struct {
	language, encodings, text string
}{
	{"German", "windows-1252", "Über die Öffnungszeiten während der Sommerferien informieren wir Sie später. Für größere Gruppen müssen Plätze früh reserviert werden."},
	{"French", "windows-1252", "La bibliothèque est fermée à partir du quinze août. Les élèves reçoivent une réponse après l'été, même s'ils ont déjà été reçus à côté."},
	{"Spanish", "windows-1252", "¿Cuándo abrirá el museo este año? Según la dirección, la próxima exposición empezará mañana y durará más de tres días."},
	{"Portuguese", "windows-1252", "A informação não está disponível até amanhã. As inscrições são feitas no endereço da associação, e não há exceções."},
	{"Italian", "windows-1252", "La città è più bella perché non c'è traffico. Così sarà possibile visitarla a piedi, e di lunedì l'entrata è libera."},
	{"Swedish", "windows-1252", "Vi har öppet på lördagar och söndagar. Då kan både små och stora åka båt på ån, om vädret är bra och isen är borta."},
	{"Danish", "windows-1252", "Køreplanen gælder også på søndage. Børn må gå ombord først, når færgen lægger til ved den gamle kaj på øen."},
	{"Finnish", "windows-1252", "Tänään on hyvä päivä lähteä metsään. Sää on lämmin, eikä sadetta ole enää tänään näköpiirissä, sanoo äiti."},
	{"Icelandic", "windows-1252", "Veðrið er gott í dag og það verður líka fínt á morgun. Börnin fóru út að leika sér þó að það væri orðið kalt."},
	{"Polish", "windows-1250 iso-8859-2", "Książka została wydana w zeszłym roku. Część rozdziałów można przeczytać bezpłatnie, lecz całość będzie dostępna później, również w księgarniach."},
	{"Czech", "windows-1250 iso-8859-2", "Příští týden bude otevřena nová knihovna. Čtenáři si mohou půjčit až deset knih, které musí vrátit do konce měsíce září."},
	{"Hungarian", "windows-1250 iso-8859-2", "A könyvtár jövő héten újra megnyílik. Az olvasók tíz könyvet vihetnek haza, de időben vissza kell hozniuk őket, különben büntetést fizetnek."},
	{"Romanian", "windows-1250", "Biblioteca se va redeschide săptămâna viitoare. Cărţile împrumutate trebuie aduse înapoi până la sfârşitul lunii, fără nicio întârziere."},
	{"Croatian", "windows-1250 iso-8859-2", "Knjižnica će ponovno otvoriti vrata sljedeći tjedan. Čitatelji mogu posuditi deset knjiga, koje moraju vratiti do kraja mjeseca, što je već običaj."},
	{"Turkish", "windows-1254", "Kütüphane gelecek hafta yeniden açılıyor. Okuyucular on kitap ödünç alabilir, ancak bunları ayın sonuna kadar geri getirmeleri gerekiyor, aksi hâlde ceza öderler. Şimdiden iyi günler dileğiyle."},
	{"Lithuanian", "windows-1257", "Biblioteka vėl atidaroma kitą savaitę. Skaitytojai gali pasiimti dešimt knygų, kurias turi grąžinti iki mėnesio pabaigos, nes kitaip mokės baudą už kiekvieną dieną."},
	{"Latvian", "windows-1257", "Bibliotēka atkal tiks atvērta nākamnedēļ. Lasītāji var paņemt desmit grāmatas, kuras jāatgriež līdz mēneša beigām, citādi būs jāmaksā soda nauda."},
	{"Russian", "windows-1251 koi8-u iso-8859-5 ibm866", "Библиотека снова откроется на следующей неделе. Читатели могут взять десять книг, которые нужно вернуть до конца месяца, иначе придётся платить."},
	{"Ukrainian", "windows-1251 koi8-u", "Бібліотека знову відчиниться наступного тижня. Читачі можуть узяти десять книжок, які треба повернути до кінця місяця, інакше доведеться платити."},
	{"Bulgarian", "windows-1251", "Библиотеката отново ще отвори врати през следващата седмица. Читателите могат да вземат десет книги, които трябва да върнат до края на месеца."},
	{"Serbian", "windows-1251", "Библиотека ће поново бити отворена следеће недеље. Читаоци могу да позајме десет књига, које морају вратити до краја месеца."},
	{"Greek", "windows-1253 iso-8859-7", "Η βιβλιοθήκη θα ανοίξει ξανά την επόμενη εβδομάδα. Οι αναγνώστες μπορούν να δανειστούν δέκα βιβλία, τα οποία πρέπει να επιστρέψουν."},
	{"Hebrew", "windows-1255", "הספרייה תיפתח מחדש בשבוע הבא. הקוראים יכולים לשאול עשרה ספרים, ואותם עליהם להחזיר עד סוף החודש."},
	{"Arabic", "windows-1256", "ستفتح المكتبة أبوابها من جديد في الأسبوع القادم. يمكن للقراء استعارة عشرة كتب، وعليهم إعادتها قبل نهاية الشهر."},
	{"Thai", "windows-874", "ห้องสมุดจะเปิดอีกครั้งในสัปดาห์หน้า ผู้อ่านสามารถยืมหนังสือได้สิบเล่ม ซึ่งต้องนำมาคืนก่อนสิ้นเดือน"},
	{"Japanese", "shift_jis euc-jp iso-2022-jp", "図書館は来週また開館します。読者は本を十冊まで借りることができますが、月末までに返さなければなりません。カードが必要です。"},
	{"Korean", "euc-kr", "도서관은 다음 주에 다시 문을 엽니다. 독자는 책을 열 권까지 빌릴 수 있으며, 월말까지 반납해야 합니다."},
	{"Chinese, simplified", "gbk", "图书馆将于下周重新开放。读者最多可以借阅十本书，并须在月底之前归还，否则需要支付罚款。"},
	{"Chinese, traditional", "big5", "圖書館將於下週重新開放。讀者最多可以借閱十本書，並須在月底之前歸還，否則需要支付罰款。"},
}

// encoded writes a text in an encoding.
func encoded(t *testing.T, name, text string) []byte {
	t.Helper()
	b, _, err := transform.Bytes(lookup(name).enc.NewEncoder(), []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

// sameText reports whether two encodings read the bytes alike: then either will do.
func sameText(t *testing.T, a, b string, text []byte) bool {
	t.Helper()
	one, _ := lookup(a).decode(text, nil)
	other, _ := lookup(b).decode(text, nil)
	return string(one) == string(other)
}

// A page that says nothing of its charset is read as it was written, whatever domain it is on.
func TestDetect(t *testing.T) {
	for _, tt := range texts {
		for name := range strings.FieldsSeq(tt.encodings) {
			t.Run(tt.language+" "+name, func(t *testing.T) {
				text := encoded(t, name, tt.text)
				body := fmt.Appendf(nil, "<!doctype html><html><head><title>%s</title></head><body class=x><p>%s</p></body></html>", text, text)
				p := page(t, "http://site.example/", "text/html", body)
				if p.Charset != name && !sameText(t, name, p.Charset, text) {
					t.Errorf("charset %q, title %q", p.Charset, p.Title)
				}
			})
		}
	}
}

// Of short texts most are read right: every first three words, and all but a few where the domain tells the country.
func TestDetectShort(t *testing.T) {
	domains := map[string]string{
		"German": "de", "French": "fr", "Spanish": "es", "Portuguese": "pt", "Italian": "it", "Swedish": "se", "Danish": "dk", "Finnish": "fi", "Icelandic": "is",
		"Polish": "pl", "Czech": "cz", "Hungarian": "hu", "Romanian": "ro", "Croatian": "hr", "Turkish": "com.tr", "Lithuanian": "lt", "Latvian": "lv",
		"Russian": "ru", "Ukrainian": "ua", "Bulgarian": "bg", "Serbian": "rs", "Greek": "gr", "Hebrew": "co.il", "Arabic": "eg", "Thai": "co.th",
		"Japanese": "jp", "Korean": "kr", "Chinese, simplified": "cn", "Chinese, traditional": "tw",
	}
	for _, known := range []bool{false, true} {
		all, wrong := 0, 0
		var missed []string
		for _, tt := range texts {
			host := "site.example"
			if known {
				host = "site." + domains[tt.language]
			}
			words := strings.Fields(strings.NewReplacer("。", " ", "，", " ", "、", " ").Replace(tt.text))
			for name := range strings.FieldsSeq(tt.encodings) {
				for i := 0; i+3 <= len(words); i++ {
					text := encoded(t, name, strings.Join(words[i:i+3], " "))
					if isASCII(text) && name != "iso-2022-jp" {
						continue
					}
					all++
					got, _, _ := determine("", append([]byte("<title>"), text...), false, host)
					if got.name != name && !sameText(t, name, got.name, text) {
						wrong++
						missed = append(missed, tt.language+" "+name+" as "+got.name)
					}
				}
			}
		}
		most := 0.16
		if known {
			most = 0.06
		}
		share := float64(wrong) / float64(all)
		t.Logf("domain known: %t; %d of %d are read wrong, %.1f%%", known, wrong, all, 100*share)
		if share > most {
			t.Errorf("more than %.0f%%: %v", 100*most, missed)
		}
	}
}

// The texts of the html5lib tests, of one encoding each.
func TestDetectConformance(t *testing.T) {
	for name, want := range map[string]string{"test_big5.txt": "big5"} {
		body, err := os.ReadFile(conformance(t, "html5lib/encoding/chardet/"+name))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := determine("", body, false, "h"); got.name != want {
			t.Errorf("%s: %s, want %s", name, got.name, want)
		}
	}
}

// What is no language stays windows-1252, as does a letter with an accent here and there.
func TestDetectNothing(t *testing.T) {
	var all []byte
	for c := range 128 {
		all = append(all, byte(c+128))
	}
	for _, body := range []string{
		"\xfc", "<title>\xfc\x80</title>", "caf\xe9", "\xc4rzte", "\xa9 2026", "\x93quoted\x94 \x96 and so on\x85", "na\xefve", "\xc9cole", "10 \x80", "\xe9\xe9", string(all),
		"\xff\xff\xff\xff", strings.Repeat("\xfe\x80\x01", 50), "\xa0\xa0\xa0\xa0", "Stra\xdfe", "50\xb0 \xb1 2\xb5m\xb2 \xd7 \xbd",
	} {
		if got, certain, _ := determine("", []byte(body), false, "site.example"); got.name != "windows-1252" || certain {
			t.Errorf("%.40q is read as %s", body, got.name)
		}
	}
}

func TestDetectUTF16(t *testing.T) {
	for _, name := range []string{"utf-16le", "utf-16be"} {
		body := encoded(t, name, "<!doctype html><html><head><title>наука</title></head>")
		if p := page(t, "http://h/", "text/html", body); p.Charset != name || p.Title != "наука" {
			t.Errorf("%s: %q, title %q", name, p.Charset, p.Title)
		}
	}
	for _, body := range []string{"<\x00t\x00", strings.Repeat("\x00", 100), strings.Repeat("ab\x00\x00", 50), "<title>\x00x\x00</title>" + strings.Repeat("ab", 50)} {
		if got, _, _ := determine("", []byte(body), false, "h"); got.name != "windows-1252" {
			t.Errorf("%.20q is read as %s", body, got.name)
		}
	}
}

// A guess is only that: an element of the page has the last word.
func TestDetectThenMeta(t *testing.T) {
	body := append(encoded(t, "windows-1251", texts[17].text+strings.Repeat(" ", 2*prescanBytes)), "<meta charset=koi8-r><title>\xc1</title>"...)
	if p := page(t, "http://h.ru/", "text/html", body); p.Charset != "koi8-r" || p.Title != "а" {
		t.Errorf("charset %q, title %q", p.Charset, p.Title)
	}
}

func TestLastLabel(t *testing.T) {
	for host, want := range map[string]string{"a.example": "example", "a.ru.": "ru", "127.0.0.1": "", "::1": "", "localhost": "localhost", "": ""} {
		if got := lastLabel(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// Whatever the bytes, a guess is a charset, and the sample is bounded.
func FuzzDetect(f *testing.F) {
	for _, tt := range texts {
		f.Add([]byte(tt.text), "ru")
	}
	f.Add([]byte("a\x80\x81\x1b$B\x00"), "")
	f.Fuzz(func(t *testing.T, body []byte, domain string) {
		if c := detect(body, domain); c.enc == nil {
			t.Errorf("%q gives no charset", body)
		}
		if n := len(sampleOf(body)); n > 2*sampleBytes+64 || n > 2*len(body)+8 {
			t.Errorf("a sample of %d bytes from %d", n, len(body))
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	body := []byte(strings.Repeat("<p class=x>"+texts[17].text+"</p>\n", 400))
	body, _, _ = transform.Bytes(lookup("windows-1251").enc.NewEncoder(), body)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		detect(body, "example")
	}
}
