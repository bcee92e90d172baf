// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** A web server on Netty's native transport, or on the JDK's where that does not load (musl). */
public final class Netty {
  private Netty() {}

  public static void main(String[] args) throws Exception {
    boolean epoll = Epoll.isAvailable();
    EventLoopGroup loops = epoll ? new EpollEventLoopGroup(2) : new NioEventLoopGroup(2);
    Channel channel =
        new ServerBootstrap()
            .group(loops)
            .channel(epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel child) {
                    child
                        .pipeline()
                        .addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new HttpContentCompressor(), new Answers());
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .sync()
            .channel();
    Harness.serve(Integer.toString(((InetSocketAddress) channel.localAddress()).getPort()));
  }

  private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      QueryStringDecoder query = new QueryStringDecoder(request.uri());
      ByteBuf body = context.alloc().buffer();
      List<String> names = query.parameters().get("n");
      for (int i = 0; i < 20; ++i) {
        ByteBufUtil.writeUtf8(body, query.path() + " " + (names == null ? i : Integer.parseInt(names.get(0)) * 31 + i) + "\n");
      }
      FullHttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      answer.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
      HttpUtil.setContentLength(answer, body.readableBytes());
      context.writeAndFlush(answer);
    }
  }
}
