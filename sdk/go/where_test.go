package causeway

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

type status string

func TestWhere(t *testing.T) {
	at := time.Date(2026, 1, 31, 8, 30, 0, 500, time.FixedZone("", 3600))
	var none *string
	for _, test := range []struct {
		template string
		values   []any
		want     string
	}{
		{"status = 'Active'", nil, "status = 'Active'"},
		{"a = ?", []any{"it's"}, "a = 'it''s'"},
		{"a = ?", []any{"' OR ''='"}, "a = ''' OR ''''='''"},
		{"a = ? AND b = ?", []any{"?", "x"}, "a = '?' AND b = 'x'"},
		{"a = '?' AND `b?` = ?", []any{1}, "a = '?' AND `b?` = 1"},
		{"a = 'it''s ?' AND b = ?", []any{1}, "a = 'it''s ?' AND b = 1"},
		{"a=?AND", []any{1}, "error: touches"},
		{"a = -?", []any{1}, "error: touches"},
		{"a = ?'b'", []any{"c"}, "error: touches"},
		{"a=?", []any{""}, "a=''"},
		{"a = ?", []any{status("open")}, "a = 'open'"},
		{"a = ?", []any{Ptr("b")}, "a = 'b'"},
		{"a = ?", []any{-12}, "a = -12"},
		{"a = ?", []any{uint64(math.MaxUint64)}, "a = 18446744073709551615"},
		{"a = ?", []any{1.5}, "a = 1.5"},
		{"a = ?", []any{float32(0.1)}, "a = 0.1"},
		{"a = ?", []any{1e30}, "a = 1e+30"},
		{"a = ?", []any{json.Number("9007199254740993.10")}, "a = 9007199254740993.10"},
		{"a = ?", []any{new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)}, "a = 100000000000000000000"},
		{"a = ? OR b = ?", []any{true, false}, "a = TRUE OR b = FALSE"},
		{"a >= ?", []any{at}, "a >= 2026-01-31T07:30:00.0000005Z"},
		{"a >= ?", []any{Date{2026, 1, 31}}, "a >= 2026-01-31"},
		{"a >= ?", []any{DateOf(at)}, "a >= 2026-01-31"},
		{"a IN (?)", []any{[]string{"b", "c'"}}, "a IN ('b', 'c''')"},
		{"a in ?", []any{[]int{1, 2}}, "a in (1, 2)"},
		{"a NOT IN ( ?, 3 )", []any{[]int{1, 2}}, "a NOT IN ( 1, 2, 3 )"},
		{"a IN (?, ?)", []any{"b", "c"}, "a IN ('b', 'c')"},
		{"a IN (?, ?)", []any{"b)", []string{"c"}}, "a IN ('b)', 'c')"},
		{"a IN (?)", []any{[]any{"b", 1, true}}, "a IN ('b', 1, TRUE)"},
		{"? AND c = ?", []any{Where("a = ? OR b = ?", 1, 2), 3}, "(a = 1 OR b = 2) AND c = 3"},
		{"a = ?", []any{nil}, "error: IS NULL"},
		{"a = ?", []any{none}, "error: IS NULL"},
		{"a = ?", []any{(*big.Int)(nil)}, "error: IS NULL"},
		{"a IN (?)", []any{[]any{"b", nil}}, "error: member 2: nil"},
		{"a IN (?)", []any{[]string{}}, "error: empty"},
		{"a = ?", []any{[]string{"b"}}, "error: behind IN"},
		{"a = 'IN (' OR b = ?", []any{[]string{"b"}}, "error: behind IN"},
		{"(a = ?)", []any{[]string{"b"}}, "error: behind IN"},
		{"a = ?", []any{[]byte("b")}, "error: []uint8"},
		{"a = ?", []any{"\xff"}, "error: UTF-8"},
		{"a = ?", []any{math.NaN()}, "error: NaN"},
		{"a = ?", []any{math.Inf(-1)}, "error: -Inf"},
		{"a = ?", []any{json.Number("1 OR TRUE")}, "error: no number"},
		{"a = ?", []any{Date{2026, 2, 30}}, "error: no date"},
		{"a = ?", []any{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "error: year 10000"},
		{"a = ?", []any{struct{}{}}, "error: struct {}"},
		{"a = ?", []any{map[string]int{}}, "error: map[string]int"},
		{"a = ?", nil, "error: 1 places for values, and 0 values"},
		{"a = ?", []any{1, 2}, "error: 1 places for values, and 2 values"},
		{"a = 'b", nil, "error: never closed"},
		{"`a = ?", []any{1}, "error: never closed"},
		{"? AND c = ?", []any{Where("a = ?"), 3}, "error: 1 places for values, and 0"},
		{"? AND c = ?", []any{Filter{}, 3}, "error: filters nothing"},
	} {
		text, err := Where(test.template, test.values...).Text()
		if fault, ok := strings.CutPrefix(test.want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), fault) || text != "" {
				t.Errorf("%s, %v: got %q, %v", test.template, test.values, text, err)
			}
		} else if text != test.want || err != nil {
			t.Errorf("%s, %v: got %q, %v", test.template, test.values, text, err)
		}
	}
}

// FuzzWhere checks that the text between the quotes is the value, whatever the value is.
func FuzzWhere(f *testing.F) {
	for _, seed := range []string{"", "'", "''", "a'b", "\\'", "?", "' OR ''='", "é\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text, err := Where("a = ?", value).Text()
		if err != nil {
			return
		}
		literals := readTexts(text)
		if len(literals) != 1 || literals[0] != value {
			t.Errorf("%q became %q", value, text)
		}
	})
}

// readTexts reads the literals of a filter: a quote begins a text, and in it two quotes are one.
func readTexts(filter string) []string {
	var texts []string
	for at := 0; at < len(filter); at++ {
		if filter[at] != '\'' {
			continue
		}
		var text strings.Builder
		for at++; at < len(filter); at++ {
			if filter[at] == '\'' {
				if at+1 == len(filter) || filter[at+1] != '\'' {
					break
				}
				at++
			}
			text.WriteByte(filter[at])
		}
		texts = append(texts, text.String())
	}
	return texts
}

func TestEscapeLike(t *testing.T) {
	expect(t, "pattern", EscapeLike(`50%_\'`), `50\%\_\\'`)
}
