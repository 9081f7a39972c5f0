package trap

import "strings"

// Names of months and days are those of languages in which calendars are written, without accents, in full and as they are
// cut short. A word that means something else in another language is among them only where nothing but a pattern, or a date
// with a year, comes of it.
var (
	monthNames = words(
		"january february march april may june july august september october november december",
		"jan feb mar apr jun jul aug sep sept oct nov dec",
		"januar februar marz maerz mai juni juli oktober dezember mrz okt dez",
		"janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre janv fevr avr juil",
		"enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene abr ago dic",
		"gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug ott",
		"janeiro fevereiro marco maio junho julho setembro outubro novembro dezembro fev",
		"januari februari maart mei augustus mrt",
		"desember december januar februar",
		"styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien",
		"leden unor brezen duben kveten cerven cervenec srpen zari rijen prosinec",
		"januar marcius aprilis majus junius julius augusztus szeptember oktober",
		"ianuarie februarie martie aprilie iunie iulie septembrie octombrie noiembrie decembrie",
		"ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik",
		"tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu joulukuu",
		"январь февраль март апрель маи май июнь июль август сентябрь октябрь ноябрь декабрь",
		"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	)
	weekdays = words(
		"monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun",
		"montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag",
		"lundi mardi mercredi jeudi vendredi samedi dimanche",
		"lunes martes miercoles jueves viernes sabado domingo",
		"lunedi martedi mercoledi giovedi venerdi sabato domenica",
		"maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
		"poniedzialek wtorek sroda czwartek piatek sobota niedziela",
		"mandag tirsdag onsdag torsdag fredag lordag sondag",
	)

	// units are words between which numbers of a calendar stand: /calendar/month/2031/7, /calendar/2031/week/5.
	units = words(
		"year month week day quarter list grid view jahr monat woche tag annee mois semaine jour ano mes semana dia anno mese settimana giorno jaar maand dag rok",
	)

	// calendars are how words for what has dates to come begin, and shortWords those that other words begin with as well.
	calendars = []string{
		"calend", "kalend", "event", "agenda", "termine", "terminkal", "month", "schedul", "veranstaltung", "evenement", "evenimente", "wydarzeni",
		"udalost", "whatson", "whats-on", "booking", "availab", "verfugbar", "belegung", "disponib", "reservation", "reservier", "reserva-",
	}
	shortWords = words("cal ical termin reserva")

	yearNames  = words("y yr yy yyyy year annee ano anno jahr jaar rok god")
	monthParts = words("m mo mm mon month monat mois mes mese maand w week kw woche semaine semana q quarter d dd day tag jour dia giorno dag")
	packsMonth = words("month ym yearmonth monat mois mes mese maand")
	packsDay   = words("date day dt dia jour fecha giorno dag cal")
	datesNames = words("from to start end begin since until after before time t ts timestamp d data")
)

func words(lines ...string) map[string]bool {
	set := make(map[string]bool)
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			set[word] = true
		}
	}
	return set
}

func isMonthName(text string) bool { return monthNames[text] }

func isWeekday(text string) bool { return weekdays[text] }

func isUnit(text string) bool { return units[text] }

// namesCalendar reports whether a segment is a word for what has dates to come, or begins with one: events, cal.php.
func namesCalendar(segment string) bool {
	for _, word := range calendars {
		if strings.HasPrefix(segment, word) {
			return true
		}
	}
	end := strings.IndexAny(segment, betweenParts)
	if end < 0 {
		end = len(segment)
	}
	return shortWords[segment[:end]]
}

// isCalendar reports whether a segment is a word for a calendar, and nothing else.
func isCalendar(segment string) bool {
	return strings.HasPrefix(segment, "calend") || strings.HasPrefix(segment, "kalend")
}

// namesYear reports whether a parameter of this name holds a year: y, year, yyyy, alone or as the end of a longer name.
func namesYear(name string) bool { return yearNames[name] || strings.HasSuffix(name, "year") }

// namesDay reports whether a parameter of this name holds a day, and never the number of an item: date, start_date, startDate.
func namesDay(name string) bool {
	return packsDay[name] || strings.HasSuffix(name, "date") || strings.HasSuffix(name, "day") || strings.HasSuffix(name, "datum")
}

// lastWord returns the last word of a parameter's name, in small letters: year of cal_year, cal-year and cal[Year].
func lastWord(name string) string {
	name = plain(name)
	if i := strings.LastIndexAny(name, "_-.[:"); i >= 0 {
		name = strings.TrimRight(name[i+1:], "]")
	}
	return name
}
