// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// clientcmd says how client-go resolves kubeconfigs: the reference of tests/full/kubeconfigs. Reads cases from standard
// input, a JSON object a line, and answers each with a line.
package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type flags struct {
	Kubeconfig, Context, Cluster, User, Namespace, Server, Token, TLSServerName, CertificateAuthority string
	Insecure                                                                                           bool
}

type testCase struct {
	Kubeconfig string // the variable
	Flags      flags
}

func resolve(one testCase) map[string]any {
	os.Setenv("KUBECONFIG", one.Kubeconfig)
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = one.Flags.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: one.Flags.Context}
	overrides.Context.Cluster = one.Flags.Cluster
	overrides.Context.AuthInfo = one.Flags.User
	overrides.Context.Namespace = one.Flags.Namespace
	overrides.ClusterInfo.Server = one.Flags.Server
	overrides.ClusterInfo.TLSServerName = one.Flags.TLSServerName
	overrides.ClusterInfo.CertificateAuthority = one.Flags.CertificateAuthority
	overrides.ClusterInfo.InsecureSkipTLSVerify = one.Flags.Insecure
	overrides.AuthInfo.Token = one.Flags.Token
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	client, err := config.ClientConfig()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	namespace, _, err := config.Namespace()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	if err := rest.LoadTLSFiles(client); err != nil {
		return map[string]any{"error": err.Error()}
	}
	address, _, err := rest.DefaultServerUrlFor(client)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	out := map[string]any{
		"server": address.String(), "namespace": namespace, "token": client.BearerToken, "tokenFile": client.BearerTokenFile,
		"username": client.Username, "password": client.Password, "insecure": client.Insecure, "tlsServerName": client.ServerName,
		"ca": string(client.CAData), "certificate": string(client.CertData), "key": string(client.KeyData),
		"as": client.Impersonate.UserName, "asUid": client.Impersonate.UID, "asGroups": client.Impersonate.Groups,
		"asExtra": client.Impersonate.Extra, "proxy": "", "exec": nil,
	}
	if client.Proxy != nil {
		request := &http.Request{URL: &url.URL{Scheme: "https", Host: "reference.invalid"}}
		if proxy, err := client.Proxy(request); err == nil && proxy != nil {
			out["proxy"] = proxy.String()
		}
	}
	if exec := client.ExecProvider; exec != nil {
		environment := []string{}
		for _, variable := range exec.Env {
			environment = append(environment, variable.Name+"="+variable.Value)
		}
		out["exec"] = map[string]any{"command": exec.Command, "arguments": exec.Args, "environment": environment,
			"apiVersion": exec.APIVersion, "interactiveMode": exec.InteractiveMode, "provideClusterInfo": exec.ProvideClusterInfo}
	}
	return out
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var one testCase
		if err := json.Unmarshal(input.Bytes(), &one); err != nil {
			panic(err)
		}
		if err := output.Encode(resolve(one)); err != nil {
			panic(err)
		}
	}
}
