// Command keyring prints which credentials upstream's keyring has for images, as a table for
// tests/sync/images/golden/keyring.txt: "keyring SEED ROWS" prints the chosen rows and as many random ones.
//
// A row is the number of secrets, for each "json" or "cfg" (its type) and its text, the image, and what is found: "error",
// "name" (the image cannot be read), or users with their passwords, "u:p", in the order in which they are tried.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/credentialprovider"
	"k8s.io/kubernetes/pkg/credentialprovider/secrets"
	"k8s.io/kubernetes/pkg/util/parsers"
)

type secret struct{ kind, text string }

func (s secret) object() corev1.Secret {
	if s.kind == "json" {
		return corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(s.text)}}
	}
	return corev1.Secret{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{corev1.DockerConfigKey: []byte(s.text)}}
}

func found(list []secret, image string) string {
	repository, _, _, err := parsers.ParseImageName(image)
	if err != nil {
		return "name"
	}
	var objects []corev1.Secret
	for _, s := range list {
		objects = append(objects, s.object())
	}
	keyring, err := secrets.MakeDockerKeyring(objects, credentialprovider.UnionDockerKeyring{})
	if err != nil {
		return "error"
	}
	credentials, _ := keyring.Lookup(repository)
	var users []string
	for _, c := range credentials {
		users = append(users, c.Username+":"+c.Password)
	}
	return strings.Join(users, " ")
}

func row(out *bufio.Writer, list []secret, image string) {
	columns := []string{strconv.Itoa(len(list))}
	for _, s := range list {
		columns = append(columns, s.kind, strconv.QuoteToASCII(s.text))
	}
	columns = append(columns, strconv.QuoteToASCII(image), strconv.QuoteToASCII(found(list, image)))
	fmt.Fprintln(out, strings.Join(columns, "\t"))
}

func config(places ...string) secret {
	auths := map[string]map[string]string{}
	for i, place := range places {
		auths[place] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("u%d:p", i)))}
	}
	text, _ := json.Marshal(map[string]any{"auths": auths})
	return secret{"json", string(text)}
}

var places = []string{
	"registry.example.com", "https://registry.example.com", "http://registry.example.com/v1/", "registry.example.com/v2/",
	"registry.example.com/team", "registry.example.com/team/app", "registry.example.com:5000", "*.example.com", "*.*.com",
	"r*.example.com", "registry.e?ample.com", "x[a-c]y.example.com", "x[^a-c]y.example.com", "*.example.com:5000",
	"*.example.com/team", "index.docker.io", "https://index.docker.io/v1/", "docker.io", "https://docker.io/v2/", "*.docker.io",
	"docker.io/library", "docker.io/user", "localhost", "localhost:5000", "[::1]:5000", "127.0.0.1", "127.0.0.*", "*", "",
	"registry.example.com/te%61m", "registry.example.com/te%zz", "user@registry.example.com", "registry.example.com?q=1",
	"registry.example.com#f", "a b.example.com", "registry.example.com:port", "registry.example.com/v1", "registry.example.com/v1/team",
	"ftp://registry.example.com", "registry.example.com/", "registry.example.com//", "Registry.example.com", "other.example.org",
}

var images = []string{
	"busybox", "busybox:1", "library/busybox", "user/app", "docker.io/busybox", "docker.io/user/app:2", "index.docker.io/user/app",
	"registry.example.com/app", "registry.example.com/team/app:1", "registry.example.com/team/app/more", "registry.example.com/teams/app",
	"registry.example.com:5000/team/app", "sub.registry.example.com/app", "r1.example.com/team/app", "example.com/app", "localhost/app",
	"localhost:5000/app", "127.0.0.1/app", "127.0.0.1:5000/app", "xby.example.com/app", "xdy.example.com/app", "hub.docker.io/app",
	"registry.example.com/app@sha256:" + strings.Repeat("a", 64), "Registry.example.com/app", "UPPER", "[::1]:5000/app", "",
}

func chosen(out *bufio.Writer) {
	for _, place := range places {
		for _, image := range images {
			row(out, []secret{config(place)}, image)
		}
	}
	texts := []string{
		`{"auths":{"a.b":{"username":"u","password":"p","email":"e"}}}`, `{"Auths":{"a.b":{"USERNAME":"u","Password":"p"}}}`,
		`{"auths":{"a.b":{"username":"u","password":"p","auth":"dTI6cDI="}}}`, `{"auths":{"a.b":{"auth":"dTI6cDI"}}}`,
		`{"auths":{"a.b":{"auth":"dTpwOnE="}}}`, `{"auths":{"a.b":{"auth":"dXA="}}}`, `{"auths":{"a.b":{"auth":"?"}}}`,
		`{"auths":{"a.b":{"auth":"dTI6cDI= "}}}`, `{"auths":{"a.b":{"auth":"dTI6\ncDI="}}}`, `{"auths":{"a.b":{"auth":"dTI6\ncDI"}}}`,
		`{"auths":{"a.b":{"auth":"dTI6c"}}}`, `{"auths":{"a.b":{"auth":""}}}`, `{"auths":{"a.b":{}}}`, `{"auths":{"a.b":null}}`,
		`{"auths":{"a.b":5}}`, `{"auths":{"a.b":{"username":5}}}`, `{"auths":{"a.b":{"email":5}}}`, `{"auths":[]}`, `{"auths":null}`,
		`{}`, `null`, `[]`, `{`, ``, `{"auths":{"a.b":{"auth":"dTpw","identitytoken":"t"}},"HttpHeaders":{"X":"y"}}`,
		`{"auths":{"a.b":{"auth":":"}}}`, `{"auths":{"a.b":{"auth":"Og=="}}}`,
	}
	for _, text := range texts {
		row(out, []secret{{"json", text}}, "a.b/c")
		row(out, []secret{{"cfg", text}}, "a.b/c")
	}
	row(out, []secret{{"cfg", `{"a.b":{"auth":"dTI6cDI="}}`}}, "a.b/c")
	row(out, []secret{{"cfg", `{"a.b":{"auth":"dTI6cDI="}}`}, {"json", texts[0]}}, "a.b/c")
	row(out, []secret{{"json", texts[0]}, {"cfg", `{"a.b":{"auth":"dTI6cDI="}}`}}, "a.b/c")
	row(out, []secret{{"json", texts[0]}, {"json", `{`}}, "a.b/c")
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: keyring SEED ROWS")
		os.Exit(2)
	}
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rows, _ := strconv.Atoi(os.Args[2])
	random := rand.New(rand.NewSource(seed))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintf(out, "# keyring %s\n", strings.Join(os.Args[1:], " "))
	chosen(out)
	for i := 0; i < rows; i++ {
		var list []secret
		for s := 0; s <= random.Intn(3); s++ {
			// Of places that come to the same, upstream tries those of one secret in the random order of a map: one of each.
			used := map[string]bool{}
			var mine []string
			for p := 0; p <= random.Intn(4); p++ {
				place := places[random.Intn(len(places))]
				bare := strings.TrimPrefix(strings.TrimPrefix(place, "https://"), "http://")
				bare = strings.NewReplacer("/v1/", "/", "/v2/", "/", "%61", "a", "user@", "", "?q=1", "", "#f", "").Replace(bare)
				bare = strings.TrimRight(bare, "/")
				if used[bare] {
					continue
				}
				used[bare] = true
				mine = append(mine, place)
			}
			list = append(list, config(mine...))
		}
		row(out, list, images[random.Intn(len(images))])
	}
}
